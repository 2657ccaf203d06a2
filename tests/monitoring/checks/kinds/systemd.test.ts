import { afterAll, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runCheckOfType, runUntilTimedOut } from "../../../support/check-runs.ts";
import { createDashboard } from "../../../support/dashboard.ts";

const folder = mkdtempSync(join(tmpdir(), "signalbox-test-"));
afterAll(() => rmSync(folder, { recursive: true }));

let count = 0;

/** Creates a stand-in for systemctl with this output. */
function writeSystemctl(output: string, { errors = "", exitCode = 0 } = {}): string {
  const file = join(folder, `systemctl-${count++}`);
  const text = `printf '%s' "$*" | grep -q '^show --property=LoadState,ActiveState,Result -- shop' || exit 9
printf '${output}'; printf '${errors}' >&2; exit ${exitCode}`;
  writeFileSync(file, `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  return file;
}

const findOutcome = (systemctl: string | null, more: Parameters<typeof runCheckOfType>[2] = {}) =>
  runCheckOfType("systemd", { unit: "shop.service" }, { systemctl, ...more });
const buildUnit = (load: string, active: string, result = "success") =>
  writeSystemctl(`Result=${result}\nLoadState=${load}\nActiveState=${active}\n`);

test("a unit is up while it is active", async () => {
  for (const state of ["active", "reloading"])
    expect(await findOutcome(buildUnit("loaded", state))).toMatchObject({
      status: "up",
      message: expect.stringMatching(new RegExp(`^The unit is ${state}, reported in \\d+ ms\\.$`)),
    });
});

test.each([
  ["There is no such unit.", buildUnit("not-found", "inactive")],
  ["The unit is masked.", buildUnit("masked", "inactive")],
  ["The unit is not active but inactive.", buildUnit("loaded", "inactive")],
  ["The unit is not active but activating.", buildUnit("loaded", "activating")],
  ["The unit failed (exit-code).", buildUnit("loaded", "failed", "exit-code")],
  ["The unit failed.", buildUnit("loaded", "failed", "CANARY-7f3a")],
  ["The unit is not active.", buildUnit("loaded", "CANARY-7f3a")],
  ["The response is not valid for systemd.", writeSystemctl("CANARY-7f3a")],
  ["systemd is not on this machine.", null],
  [
    "systemd does not run on this machine.",
    writeSystemctl("", {
      errors: "System has not been booted with systemd as init system",
      exitCode: 1,
    }),
  ],
])("and otherwise down: %s", async (message, systemctl) => {
  expect(await findOutcome(systemctl)).toMatchObject({ status: "down", message });
});

test("a denied or hanging query is reported", async () => {
  const denied = writeSystemctl("", { errors: "Access denied", exitCode: 4 });
  expect((await findOutcome(denied)).message).toBe(
    "Not judged: systemd does not let the appliance ask.",
  );
  const hanging = join(folder, "hanging");
  writeFileSync(hanging, "#!/bin/sh\nsleep 1000\n", { mode: 0o755 });
  const message = "Timed out while waiting for the response.";
  expect(
    await runUntilTimedOut(message, (timeoutMs) => findOutcome(hanging, { timeoutMs })),
  ).toMatchObject({
    status: "down",
    message,
  });
});

test("systemd is blocked from the second organization on, like all of loopback", async () => {
  const shared = "is this machine itself, which several organizations share";
  expect((await findOutcome(buildUnit("loaded", "active"), { isShared: true })).message).toBe(
    `Not judged: the target ${shared} (see --allow-target).`,
  );
  const { api } = await createDashboard({ isShared: () => true });
  const body = { type: "systemd", name: "Shop", unit: "shop" };
  const { status, json } = await api("POST", "/api/v1/monitors", { body });
  expect([status, json.error.details[0].path]).toEqual([422, "unit"]);
});

const isBooted =
  existsSync("/proc/1/comm") && readFileSync("/proc/1/comm", "utf8").trim() === "systemd";
if (!isBooted) console.warn("systemd has not started this machine: its own answers are not tested");

test.skipIf(!isBooted)("the real systemd reports its own units", async () => {
  const systemctl = Bun.which("systemctl");
  const initScope = await runCheckOfType("systemd", { unit: "init.scope" }, { systemctl });
  expect(initScope.status).toBe("up");
  const missingUnit = await runCheckOfType(
    "systemd",
    { unit: "signalbox-nowhere.service" },
    { systemctl },
  );
  expect(missingUnit.message).toBe("There is no such unit.");
});
