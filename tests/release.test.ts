import { Spec, Validation } from "@cyclonedx/cyclonedx-library";
import { expect, test } from "bun:test";
import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import manifest from "../package.json" with { type: "json" };
import { auditPackages } from "../release/audit.ts";
import { readBuildSource } from "../release/commit.ts";
import {
  allowedLicenses,
  buildBillOfMaterials,
  renderLicenses,
  listShippedPackages,
} from "../release/packages.ts";
import { sign } from "../release/sign.ts";
import { binary, runSignalbox } from "./support/binary.ts";
import { buildChrootCommand, mayChangeRoot } from "./support/change-root.ts";
import { createMachine, expectSuccess } from "./support/machine.ts";
import { defineTestWith } from "./support/real-targets.ts";

const packages = listShippedPackages();
const bill = join(dirname(binary), "signalbox.cdx.json");

test("every shipped package has a permitted license", () => {
  // One of the alternatives is enough.
  const isAllowed = (license: string) =>
    license
      .replace(/[()]/g, "")
      .split(" OR ")
      .some((each) => allowedLicenses.includes(each));
  const wrong = packages.filter(({ license }) => !isAllowed(license));
  expect(wrong.map(({ name, license }) => `${name}: ${license}`)).toEqual([]);
  expect(packages.map(({ name }) => name)).toEqual(
    expect.arrayContaining(Object.keys(manifest.dependencies)),
  );
});

test("the bill of materials is CycloneDX and lists every shipped package", async () => {
  const text = await Bun.file(bill).text();
  const validator = new Validation.JsonStrictValidator(Spec.Version.v1dot6);
  expect(await validator.validate(text)).toBeNull();
  const { components } = JSON.parse(text) as { components: { name: string; version: string }[] };
  const listed = components.map(({ name, version }) => `${name}@${version}`);
  expect(listed).toEqual([
    `bun@${Bun.version}`,
    ...packages.map(({ name, version }) => `${name}@${version}`),
  ]);
});

test("the bill of materials of an image also lists its Debian packages", async () => {
  const versions = { "iputils-ping": "3:20221126-1+deb12u1" };
  const text = buildBillOfMaterials(packages, null, { architecture: "arm64", versions });
  const validator = new Validation.JsonStrictValidator(Spec.Version.v1dot6);
  expect(await validator.validate(text)).toBeNull();
  expect(text).toContain("pkg:deb/debian/iputils-ping@3%3A20221126-1%2Bdeb12u1?arch=arm64");
});

test("the executable shows the licenses of all of its parts", async () => {
  const text = await expectSuccess(runSignalbox(["licenses"]));
  expect(text).toBe(renderLicenses(packages).trim());
  for (const name of Object.keys(manifest.dependencies)) expect(text).toContain(`${name} `);
  expect(text).toContain("JavaScriptCore");
});

test("version reports the commit and time of the build", async () => {
  const isRepository = readBuildSource().commit !== null;
  const facts = JSON.parse(await expectSuccess(runSignalbox(["version", "--json"])));
  expect(facts).toEqual({
    version: manifest.version,
    // A source archive or another user's checkout has neither.
    commit: isRepository ? expect.stringMatching(/^[0-9a-f]{40}(-changed)?$/) : null,
    builtAt: isRepository ? expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:]{8}\.000Z$/) : null,
    bun: Bun.version,
    sqlite: expect.stringMatching(/^3\.\d+\.\d+$/),
    platform: `${process.platform}-${process.arch}`,
  });
});

defineTestWith(
  ["ssh-keygen"],
  "checksums are signed with an SSH key, and a changed list is rejected",
  async () => {
    await using box = createMachine();
    const at = (name: string) => join(box.directory, name);
    const runKeygen = (args: string[], stdin = "") =>
      Bun.spawnSync(["ssh-keygen", ...args], { stdin: Buffer.from(stdin) }).exitCode;
    expect(runKeygen(["-q", "-t", "ed25519", "-N", "", "-f", at("key")])).toBe(0);
    writeFileSync(at("SHA256SUMS"), "0123  signalbox-linux-x64\n");
    sign(at("SHA256SUMS"), at("key"));
    writeFileSync(at("signers"), `release ${await Bun.file(at("key.pub")).text()}`);
    const verify = [
      "-Y",
      "verify",
      "-f",
      at("signers"),
      "-I",
      "release",
      "-n",
      "signalbox-release",
    ];
    const isVerified = (text: string) =>
      runKeygen([...verify, "-s", at("SHA256SUMS.sig")], text) === 0;
    expect(isVerified("0123  signalbox-linux-x64\n")).toBe(true);
    expect(isVerified("0124  signalbox-linux-x64\n")).toBe(false);
    expect(() => sign(at("SHA256SUMS"), at("nowhere"))).toThrow("can't be signed");
  },
);

test("a severe vulnerability that the registry reports is found, and an unreachable registry proves nothing", async () => {
  const advisory = { id: 1, url: "https://advisories.example/1", title: "Runs what it reads" };
  const severe = { ...advisory, severity: "high", vulnerable_versions: "<=99.0.0", cwe: [] };
  const responses = {
    clean: () => Response.json({}),
    vulnerable: () =>
      Response.json({ zod: [{ ...severe, cvss: { score: 8, vectorString: null } }] }),
    skipped: () => new Response("not here", { status: 405 }),
  };
  for (const [state, fetch] of Object.entries(responses)) {
    using registry = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch });
    const found = await auditPackages({ ...process.env, NPM_CONFIG_REGISTRY: registry.url.href });
    expect(found.state as string).toBe(state);
    if (state === "vulnerable") expect(found.output).toContain(advisory.title);
  }
});

test.if(mayChangeRoot)("it starts with nothing but libc", async () => {
  await using box = createMachine();
  const root = box.directory;
  mkdirSync(join(root, "proc"));
  const libraries =
    Bun.spawnSync(["ldd", binary])
      .stdout.toString()
      .match(/\/\S+\.so\S*/g) ?? [];
  for (const file of libraries) cpSync(file, join(root, file), { dereference: true });
  cpSync(binary, join(root, "signalbox"));
  const command = buildChrootCommand(
    root,
    "/signalbox",
    "serve",
    "--data-dir",
    "/data",
    "--port",
    "0",
  );
  const run = Bun.spawn(command, { stdout: "pipe", stderr: "inherit" });
  const lines = run.stdout.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  while (!text.includes("API reference")) text += (await lines.read()).value;
  const url = /http:\S+/.exec(text)?.[0];
  expect(await (await fetch(`${url}/`)).text()).toContain("<title>");
  run.kill("SIGTERM");
  expect(await run.exited).toBe(0);
});
