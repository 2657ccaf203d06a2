import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { binary, runSignalbox } from "../support/binary.ts";
import { createMachine, expectSuccess } from "../support/machine.ts";
import { defineTestWith } from "../support/real-targets.ts";

/** Options of the service, each of which changes the unit. */
const variants: Record<string, string[]> = {
  plain: [],
  "an account of this machine": ["--user", "daemon", "--", "--data-dir", "/srv/signal box"],
  "a port below 1024": ["--", "--port", "80", "--public-port=443"],
  "metrics of the whole appliance": ["--", "--metrics-token-file", "/etc/signal box/100%.token"],
  "lists and strange letters": "-- --deny-target *.lan 10.0.5.0/24 --init --data-dir"
    .split(" ")
    .concat('/var/lib/100% "$HOME"'),
};

const printUnit = (args: string[]) => expectSuccess(runSignalbox(["service", "print", ...args]));

describe.each(Object.entries(variants))("the unit for %s", (_, args) => {
  defineTestWith(["systemd-analyze"], "is accepted by systemd without a warning", async () => {
    await using box = createMachine();
    const file = join(box.directory, "signalbox.service");
    const unit = await printUnit(args);
    await Bun.write(file, unit.replaceAll("/usr/local/bin/signalbox", binary));
    const { exitCode, stdout, stderr } = Bun.spawnSync(["systemd-analyze", "verify", file]);
    // `systemd-analyze` also warns about the machine's other units.
    const warnings = (stdout.toString() + stderr.toString())
      .split("\n")
      .filter((line) => !/^\/(usr\/)?lib\//.test(line));
    expect([exitCode, warnings.join("\n")]).toEqual([0, ""]);
  });

  defineTestWith(["systemd-analyze"], "has an exposure level of at most 2.0", async () => {
    await using box = createMachine();
    const file = join(box.directory, "signalbox.service");
    await Bun.write(file, await printUnit(args));
    const found = ["systemd-analyze", "security", "--offline=yes", "--threshold=20", file];
    const { exitCode, stdout } = Bun.spawnSync(found);
    expect([exitCode, /exposure level .*: (\S+)/.exec(stdout.toString())?.[1]]).toEqual([
      0,
      expect.stringMatching(/^[01]\.\d$/),
    ]);
  });

  defineTestWith(["plistutil"], "is a property list with the same command on macOS", async () => {
    await using box = createMachine();
    const file = join(box.directory, "signalbox.plist");
    await Bun.write(file, await printUnit(["--launchd", ...args]));
    const { exitCode, stdout } = Bun.spawnSync(["plistutil", "-f", "bin", "-i", file]);
    expect([exitCode, stdout.toString("latin1", 0, 8)]).toEqual([0, "bplist00"]);
    expect(stdout.toString("latin1")).toContain("/usr/local/bin/signalbox");
  });
});

test("the arguments of the command reach the service unchanged", async () => {
  const unit = await printUnit(variants["lists and strange letters"] ?? []);
  expect(unit).toContain(
    'ExecStart=/usr/local/bin/signalbox serve --data-dir "/var/lib/100%% \\"$$HOME\\"" ' +
      "--deny-target=*.lan --deny-target=10.0.5.0/24 --init\n",
  );
});

test.each(["metrics-token", "database-password"])(
  "the service reads the %s without a right to its file",
  async (name) => {
    const args = ["--", "--port=8080", `--${name}-file`, `/etc/signalbox/${name}`];
    const unit = await printUnit(args);
    expect(unit).toContain(
      `--port=8080 --${name}-file=\${CREDENTIALS_DIRECTORY}/${name}\n` +
        `LoadCredential=${name}:/etc/signalbox/${name}\n`,
    );
    expect(await printUnit(["--launchd", ...args])).toContain(
      `<string>--${name}-file=/etc/signalbox/${name}</string>`,
    );
  },
);

test("only a port below 1024 adds the capability to open one", async () => {
  const right = "CAP_NET_BIND_SERVICE";
  expect(await printUnit([])).not.toContain(right);
  expect(await printUnit(["--", "--public-port", "443"])).toContain(right);
});

test.each([
  [["--", "--port", "80800"], "--port must be a port number"],
  [["--", "--porty", "80"], "unknown option '--porty'"],
  [["--", "--tls-cert", "a.pem"], "--tls-key must be given with --tls-cert"],
  [["--user", "a b"], "--user must be the name of an account"],
  [["--", "--data-dir", "/srv/a\nUser=root"], "--data-dir must have no line breaks"],
  [["--", "--data-dir=/srv/a\rUser=root"], "--data-dir must have no line breaks"],
  [["--", "--metrics-token-file", "/etc/a\nb"], "--metrics-token-file must have no line breaks"],
])(
  "an option that serve would reject is rejected before anything is installed: %j",
  async (args, message) => {
    for (const command of ["print", "install"]) {
      const { exitCode, stdout, stderr } = await runSignalbox(["service", command, ...args]);
      expect([command, exitCode, stdout]).toEqual([command, 2, ""]);
      expect(stderr).toContain(message);
    }
  },
);

defineTestWith(
  ["socat"],
  "systemd is notified of readiness, watchdog beats and the stop",
  async () => {
    await using box = createMachine();
    const socket = join(box.directory, "notify");
    const listener = Bun.spawn(["socat", "-u", `UNIX-RECV:${socket}`, "STDOUT"], {
      stdout: "pipe",
    });
    while (
      !(await Bun.file(socket)
        .stat()
        .catch(() => null))
    )
      await Bun.sleep(5);
    const output = listener.stdout.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    const waitForState = async (state: string) => {
      while (!text.includes(state)) text += (await output.read()).value;
    };
    const env = { ...process.env, NOTIFY_SOCKET: socket, WATCHDOG_USEC: "200000" };
    const server = await box.serve({ env });
    await waitForState("READY=1");
    await waitForState("WATCHDOG=1WATCHDOG=1");
    expect(await server.stop()).toBe(0);
    await waitForState("STOPPING=1");
    listener.kill();
  },
);

defineTestWith(["socat"], "another process's watchdog is left alone", async () => {
  await using box = createMachine();
  const env = { ...process.env, WATCHDOG_USEC: "1000", WATCHDOG_PID: "1" };
  const server = await box.serve({ env });
  expect(await server.stop()).toBe(0);
});

test("a systemd socket without a listener is an error at once", async () => {
  await using box = createMachine();
  const env = { ...process.env, NOTIFY_SOCKET: join(box.directory, "nobody") };
  const run = await runSignalbox(["serve", "--data-dir", box.dataDir, "--port", "0"], { env });
  expect(run).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining("Can't reach systemd"),
  });
});
