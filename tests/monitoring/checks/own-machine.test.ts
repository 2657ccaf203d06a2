import { describe, expect, test } from "bun:test";
import { createAccessTokenCache } from "../../../src/core/outgoing/access-tokens.ts";
import { uncountedMemory } from "../../../src/core/outgoing/memory.ts";
import { createTargetGuard } from "../../../src/core/security/target-guard.ts";
import { checkKinds } from "../../../src/monitoring/checks/kinds.ts";
import { TroubleWatch } from "../../../src/monitoring/checks/engine/own-trouble.ts";
import { runCheck } from "../../../src/monitoring/checks/engine/run-check.ts";
import { NewMonitor } from "../../../src/monitoring/monitors/schema.ts";
import { newMonitors } from "../../support/samples.ts";

/** Types that need a program of this machine to reach a target, or have none. */
const programTypes = new Set(["command", "systemd", "browser", "ping", "composite", "manual"]);
const types = (Object.keys(checkKinds) as (keyof typeof checkKinds)[]).filter(
  (type) => !programTypes.has(type),
);

/** A machine on a test clock, whose network and file handles the test can remove. */
function createFakeMachine() {
  const world = { now: 0, families: new Set(["IPv4", "IPv6"] as const), hasHandles: true };
  const clock = () => world.now;
  const machine = { network: () => world.families, hasHandles: () => world.hasHandles };
  const trouble = new TroubleWatch(clock, clock, machine);
  const advance = (ms: number) => {
    for (let elapsed = 0; elapsed < ms; elapsed += 200) {
      world.now += 200;
      trouble.tick();
    }
  };
  advance(1_000);
  return { world, clock, trouble, advance };
}

type Machine = ReturnType<typeof createFakeMachine>;

/** Runs a check of this type without a route to its target; `meanwhile` runs during it. */
async function runFailingCheck(
  type: keyof typeof checkKinds,
  { clock, trouble }: Machine,
  meanwhile = () => {},
) {
  const named = Object.fromEntries(
    Object.entries(newMonitors[type]).map(([name, value]) => [
      name,
      name === "url" ? String(value).replace(/\/\/[^/]+/, "//192.0.2.1") : value,
    ]),
  );
  const addressed = {
    ...("host" in named && type !== "dns" && { host: "192.0.2.1" }),
    ...(type === "dns" && { resolver: "192.0.2.1" }),
    ...(type === "domain" && { server: "https://192.0.2.1/" }),
  };
  const settings = NewMonitor.parse({ type, name: "Target", ...named, ...addressed });
  const unreachable = Object.assign(new Error("no route"), { code: "ENETUNREACH" });
  const targets = {
    ...createTargetGuard(() => []),
    refresh() {
      meanwhile();
      return Promise.reject(unreachable);
    },
    issueOf: () => null,
  };
  const checkable = { type, settings, timeoutMs: 60_000, degradedAfterMs: null, inverted: false };
  return runCheck(
    checkable,
    {
      targets,
      clock,
      monotonic: clock,
      trouble,
      log: { info() {}, warn() {}, error() {} },
      organizationId: "ours",
      accessTokens: createAccessTokenCache(),
      memory: { ...uncountedMemory, end() {} },
      runWithBrowser: (work) => work(),
      membersOf: async () => [],
      inTurn: (work) => work(),
    },
    new AbortController().signal,
  );
}

const missing = { status: "unknown", message: "Not judged: this machine had no network." };

describe("a check on a machine without a network is not judged", () => {
  const times: Record<string, (machine: Machine) => () => void> = {
    "at its start": (machine) => {
      machine.world.families = new Set();
      machine.advance(1_000);
      return () => {
        machine.world.families = new Set(["IPv4", "IPv6"]);
        machine.advance(3_000);
      };
    },
    "during it": (machine) => () => {
      machine.world.families = new Set();
      machine.advance(400);
      machine.world.families = new Set(["IPv4", "IPv6"]);
      machine.advance(3_000);
    },
    "at its end": (machine) => () => {
      machine.world.families = new Set();
    },
    "just before its start": (machine) => {
      machine.world.families = new Set();
      machine.advance(1_000);
      machine.world.families = new Set(["IPv4", "IPv6"]);
      machine.advance(400);
      return () => machine.advance(400);
    },
  };
  for (const [when, begin] of Object.entries(times))
    for (const type of types)
      test(`${when}: ${type}`, async () => {
        const machine = createFakeMachine();
        const meanwhile = begin(machine);
        expect(await runFailingCheck(type, machine, meanwhile)).toMatchObject(missing);
      });
});

describe("a check without free file handles is not judged, for any error", () => {
  for (const type of types)
    test(type, async () => {
      const machine = createFakeMachine();
      const found = await runFailingCheck(type, machine, () => (machine.world.hasHandles = false));
      expect(found).toMatchObject({
        status: "unknown",
        message: "Not judged: this process has no file handles left.",
      });
    });
});

describe("a failing check on a healthy machine is down", () => {
  for (const type of types)
    test(type, async () => {
      expect((await runFailingCheck(type, createFakeMachine())).status).toBe("down");
    });
});
