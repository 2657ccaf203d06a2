/** Runs the commands of docs/install.md that this machine permits. */
import { expect, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseAllDocuments } from "yaml";
import { renderFormula } from "../release/formula.ts";
import { writeImage } from "../release/image.ts";
import { buildDeb, buildRpm } from "../release/linux-packages.ts";
import { binary, getFreePort } from "./support/binary.ts";
import { mayChangeRoot } from "./support/change-root.ts";
import { createMachine } from "./support/machine.ts";
import { defineTestWith, hasPrograms } from "./support/real-targets.ts";
import { replyWith, startTarget } from "./support/target.ts";

const root = join(import.meta.dir, "..");
const read = (path: string) => readFileSync(join(root, path), "utf8");

/** The shell commands below a heading of the document. */
function readCommands(heading: string): string {
  const section = read("docs/install.md").split(`## ${heading}\n`)[1]?.split("\n## ")[0] ?? "";
  return [...section.matchAll(/^```sh\n([^]*?)^```/gm)].map(([, block]) => block).join("\n");
}

function writeProgram(folder: string, name: string, text: string) {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, name), `#!/bin/sh\n${text}\n`);
  chmodSync(join(folder, name), 0o755);
}

// No container runs on machines without control groups of their own, so a stand-in for `docker` starts
// the unpacked layers by chroot, as the image's user with a read-only root.
const hasDebianFiles =
  hasPrograms("curl", "ping") && existsSync("/usr/share/doc/libunistring2/copyright");
test.if(mayChangeRoot && hasDebianFiles)(
  "the document leads from the image to a green monitor (layers unpacked, started by chroot)",
  async () => {
    await using box = createMachine();
    await using site = await startTarget(replyWith(200));
    const archive = join(box.directory, "signalbox-image-amd64.tar");
    await writeImage(archive, {
      architecture: process.arch === "x64" ? "amd64" : "arm64",
      executable: binary,
      debian: "/",
      bill: "{}",
      commit: "0123",
      builtAt: "2026-01-02T03:04:05.000Z",
      level: 1,
    });
    const engine = join(import.meta.dir, "support/container-engine.ts");
    const programs = join(box.directory, "bin");
    writeProgram(programs, "docker", `exec '${process.execPath}' '${engine}' "$@"`);
    const port = getFreePort();
    const commands = readCommands("Container image")
      .replaceAll("3210:3210", `${port}:3210`)
      .replaceAll("http://localhost:3210", `http://127.0.0.1:${port}`)
      .replaceAll("http://intranet.lan/health", site.at("/health"))
      // A person reads for longer than the first check takes; the script polls.
      .replace(/^curl \S+monitors -H .*$/m, 'until $& | grep \'"status":"up"\'; do :; done');
    const state = join(box.directory, "engine");
    const script = `set -eu\n${commands}\ndocker exec signalbox signalbox healthcheck
kill "$(cat '${state}/pid')"; while kill -0 "$(cat '${state}/pid')" 2>/dev/null; do :; done
if docker exec signalbox signalbox healthcheck; then exit 1; fi`;
    const child = Bun.spawn(["bash", "-c", script], {
      cwd: box.directory,
      env: {
        ...process.env,
        PATH: `${programs}:${process.env["PATH"]}`,
        ENGINE_STATE: state,
      },
      stdout: "pipe",
      stderr: "pipe",
      timeout: 60_000,
    });
    const outputs = [child.stdout, child.stderr].map((stream) => new Response(stream).text());
    const [output = "", errors] = await Promise.all(outputs);
    // After a failure, the container can still be running.
    const pid = Number(await Bun.file(join(state, "pid")).text());
    if (existsSync(`/proc/${pid}`)) process.kill(pid, "SIGKILL");
    expect([await child.exited, output, errors]).toEqual([
      0,
      expect.stringMatching(/"status":"up"[^]*\{"status":"ok"\}/),
      expect.any(String),
    ]);
    const data = statSync(join(state, "root/data/signalbox"));
    expect([data.uid, data.mode & 0o777]).toEqual([65_532, 0o700]);
  },
);

const readPackageSource = (folder: string) => ({
  architecture: process.arch === "x64" ? ("amd64" as const) : ("arm64" as const),
  executable: binary,
  licenses: "MIT",
  builtAt: "2026-01-02T03:04:05.000Z",
  folder: join(folder, "package"),
  isQuick: true,
});

/** A root directory with data, and a systemctl that records its calls. */
function createRoot(folder: string) {
  const at = (path: string) => join(folder, "root", path);
  const calls = join(folder, "calls");
  writeProgram(join(folder, "bin"), "systemctl", `echo "$@" >> '${calls}'`);
  writeFileSync(calls, "");
  mkdirSync(at("var/lib/signalbox"), { recursive: true });
  writeFileSync(at("var/lib/signalbox/signalbox.db"), "data");
  mkdirSync(at("run/systemd/system"), { recursive: true });
  return {
    at,
    run: (...command: string[]) => {
      const { exitCode, stdout, stderr } = Bun.spawnSync(command, {
        timeout: 60_000,
        env: { ...process.env, PATH: `${join(folder, "bin")}:${process.env["PATH"]}` },
      });
      if (exitCode !== 0) throw new Error(`${command.join(" ")}: ${stderr.toString()}`);
      return stdout.toString();
    },
    takeCalls: () => {
      const text = readFileSync(calls, "utf8");
      writeFileSync(calls, "");
      return text.trim().split("\n").filter(Boolean);
    },
  };
}

const unit = "usr/lib/systemd/system/signalbox.service";
const reload = "daemon-reload";
const restart = "try-restart signalbox.service";
const stop = "disable --now --quiet signalbox.service";

defineTestWith(
  ["dpkg-deb", "root"],
  "the Debian package starts no service, restarts a running one, and keeps data and settings",
  async () => {
    await using box = createMachine();
    const { at, run, takeCalls } = createRoot(box.directory);
    const file = join(box.directory, "signalbox.deb");
    buildDeb(file, readPackageSource(box.directory));
    mkdirSync(at("var/lib/dpkg/updates"), { recursive: true });
    mkdirSync(at("var/lib/dpkg/info"));
    for (const name of ["status", "available"]) writeFileSync(at(`var/lib/dpkg/${name}`), "");
    const options = ["--force-script-chrootless", "--force-depends", "--force-unsafe-io"];
    const runDpkg = (...args: string[]) =>
      run("dpkg", `--root=${at("")}`, "--log=/dev/null", ...options, ...args);
    runDpkg("-i", file);
    expect(takeCalls()).toEqual([reload]);
    expect(run(at("usr/bin/signalbox"), "--version").trim()).toMatch(/^\d+\.\d+\.\d+$/);
    expect(readFileSync(at(unit), "utf8")).toContain("ExecStart=/usr/bin/signalbox serve");
    writeFileSync(at("etc/signalbox/signalbox.env"), "SIGNALBOX_PORT=8080\n");
    runDpkg("-i", file);
    expect(takeCalls()).toEqual([reload, reload, restart]);
    expect(readFileSync(at("etc/signalbox/signalbox.env"), "utf8")).toContain("8080");
    runDpkg("-r", "signalbox");
    expect(takeCalls()).toEqual([stop, reload]);
    expect(existsSync(at(unit))).toBe(false);
    runDpkg("-P", "signalbox");
    expect(readFileSync(at("var/lib/signalbox/signalbox.db"), "utf8")).toBe("data");
  },
);

defineTestWith(
  ["rpmbuild", "rpm", "root"],
  "the RPM package starts no service, restarts a running one, and keeps data and settings",
  async () => {
    await using box = createMachine();
    const { at, run, takeCalls } = createRoot(box.directory);
    const file = join(box.directory, "signalbox.rpm");
    buildRpm(file, readPackageSource(box.directory));
    // The root directory has no shell, so the scripts run outside of it.
    const runRpm = (...args: string[]) =>
      run("rpm", `--root=${at("")}`, "--nodeps", "--noscripts", ...args);
    const runScript = (name: string, remaining: number) => {
      const script = run("rpm", "-qp", "--queryformat", `%{${name}}`, file);
      run(
        "sh",
        "-c",
        script.replaceAll("/run/systemd/system", at("run/systemd/system")),
        "sh",
        `${remaining}`,
      );
      return takeCalls();
    };
    runRpm("-i", file);
    expect(existsSync(at(unit))).toBe(true);
    expect([runScript("POSTIN", 1), runScript("PREUN", 1), runScript("POSTUN", 1)]).toEqual([
      [reload],
      [],
      [reload, restart],
    ]);
    writeFileSync(at("etc/signalbox/signalbox.env"), "SIGNALBOX_PORT=8080\n");
    runRpm("-U", "--force", file);
    expect(readFileSync(at("etc/signalbox/signalbox.env"), "utf8")).toContain("8080");
    expect([runScript("PREUN", 0), runScript("POSTUN", 0)]).toEqual([[stop], [reload]]);
    runRpm("-e", "signalbox");
    expect([existsSync(at(unit)), existsSync(at("var/lib/signalbox/signalbox.db"))]).toEqual([
      false,
      true,
    ]);
  },
);

type Values = { [name: string]: string | boolean | Values };

/** Replaces the expressions of the chart, which are only values and conditions. */
function renderChart(template: string, values: Values): string {
  const find = (path: string) =>
    path
      .split(".")
      .slice(2)
      .reduce<unknown>((value, name) => (value as Values)[name], values);
  const text = template
    .replace(/\{\{ if (\S+) \}\}([^]*?)\{\{ end \}\}/g, (_, path, part) => (find(path) ? part : ""))
    .replaceAll("{{ .Release.Name }}", "signalbox")
    .replace(/\{\{ (\.Values\.\S+) \}\}/g, (_, path) => String(find(path)));
  expect(text).not.toContain("{{");
  return text;
}

const parseManifests = (text: string) =>
  parseAllDocuments(text).map((document) => document.toJS() as { kind: string } | null);

test("the Helm chart with its default values renders the plain manifests", () => {
  const folder = "docs/deploy/helm";
  const values = parseAllDocuments(read(`${folder}/values.yaml`))[0]?.toJS() as Values;
  const template = read(`${folder}/templates/signalbox.yaml`);
  const render = (changes: Values) =>
    parseManifests(renderChart(template, { ...values, ...changes })).filter(Boolean);
  expect(render({})).toEqual(parseManifests(read("docs/deploy/kubernetes/single.yaml")));
  const without = render({ ingress: { ...(values["ingress"] as Values), enabled: false } });
  expect(without.map((each) => each?.kind)).toEqual(["StatefulSet", "Service", "NetworkPolicy"]);
  const schema = JSON.parse(read(`${folder}/values.schema.json`));
  expect(Object.keys(values)).toEqual(schema.required);
});

test("the formula has the address and checksum of the executable for each system", () => {
  const formula = renderFormula("https://downloads.example/0.1.0", (name) => `hash of ${name}`);
  const found = [...formula.matchAll(/url "(\S+)"\n +sha256 "hash of (\S+)"/g)];
  expect(found.map(([, url = ""]) => url.replace(`${dirname(url)}/`, ""))).toEqual([
    "signalbox-macos-arm64",
    "signalbox-macos-x64",
    "signalbox-linux-arm64",
    "signalbox-linux-x64",
  ]);
  for (const [, url = "", name = ""] of found) expect(url).toEndWith(`/${name}`);
});
