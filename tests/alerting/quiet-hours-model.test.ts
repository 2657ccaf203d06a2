/** Compares the engine with a model written from the documentation of quiet hours. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { createPager } from "../support/pager.ts";
import { limitTries } from "../support/property-runs.ts";

type Monitor = "normal" | "critical";
/** Hours, and the clock, are in half hours. */
type Action =
  | readonly ["down" | "up", Monitor]
  | readonly ["wait", number]
  | readonly ["hours", number, number]
  | readonly ["restart"]
  | readonly ["kill"];

const halfHourMs = 1_800_000;
/** 21:00 UTC. */
const start = Date.parse("2026-12-01T21:00:00.000Z");
const days = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
const night = [44, 14] as const;

/** The messages that arrive after each action, sorted, because those of one moment have no order. */
function predict(actions: readonly Action[]): string[][] {
  let now = 42;
  let [from, until]: readonly [number, number] = night;
  let arrived: string[] = [];
  const problems = new Map<Monitor, { isHeld: boolean; isReported: boolean }>();
  const isQuiet = () => {
    const clock = now % 48;
    return from < until ? from <= clock && clock < until : clock >= from || clock < until;
  };
  const release = () => {
    for (const [monitor, problem] of problems)
      if (problem.isHeld && !isQuiet()) {
        arrived.push(`monitor.down ${monitor}`);
        problems.set(monitor, { isHeld: false, isReported: true });
      }
  };
  return actions.map((action) => {
    arrived = [];
    const [what, which] = action;
    if (what === "down" && !problems.has(which)) {
      const isHeld = which === "normal" && isQuiet();
      problems.set(which, { isHeld, isReported: !isHeld });
      if (!isHeld) arrived.push(`monitor.down ${which}`);
    }
    if (what === "up") {
      if (problems.get(which)?.isReported === true) arrived.push(`monitor.up ${which}`);
      problems.delete(which);
    }
    if (what === "hours") [from, until] = [action[1], action[2]];
    if (what === "wait")
      for (let passed = 0; passed < which; passed++) {
        now += 1;
        release();
      }
    release();
    return arrived.toSorted();
  });
}

const formatClock = (time: number) =>
  `${String(Math.floor(time / 2)).padStart(2, "0")}:${time % 2 === 0 ? "00" : "30"}`;

const buildHours = (from: number, until: number) => ({
  timeZone: "UTC",
  hours: [{ days, from: formatClock(from), until: formatClock(until) }],
});

async function observe(actions: readonly Action[]): Promise<string[][]> {
  const pager = await createPager();
  const { time, later } = pager;
  time.now = start - halfHourMs;
  await using inbox = await pager.inbox({ quietHours: buildHours(...night) });
  const jobs = {
    normal: await pager.createWatchedJob([inbox], { name: "normal" }),
    critical: await pager.createWatchedJob([inbox], { name: "critical", priority: "critical" }),
  };
  await later();
  let now = start;
  const down = new Set<Monitor>();
  let seen = 0;
  /** Sends what is due at this time. A killed process starts again. */
  const settle = async () => {
    time.now = now;
    for (let i = 0; i < 4; i++) await later(10).catch(() => pager.restart());
    time.now = now;
  };
  const perform = async (action: Action) => {
    if (action[0] === "restart") pager.restart();
    else if (action[0] === "kill") pager.crashBefore("deliveries");
    else if (action[0] === "hours")
      await pager.changeChannel(inbox, { quietHours: buildHours(action[1], action[2]) });
    else if (action[0] !== "wait" && down.has(action[1]) !== (action[0] === "down")) {
      await jobs[action[1]].changeState(action[0]);
      if (action[0] === "down") down.add(action[1]);
      else down.delete(action[1]);
    }
  };
  const all: string[][] = [];
  for (const action of actions) {
    await perform(action);
    await settle();
    if (action[0] === "wait")
      for (let passed = 0; passed < action[1]; passed++) {
        now += halfHourMs;
        await settle();
      }
    const titles = inbox.listTitles();
    all.push(titles.slice(seen).toSorted());
    seen = titles.length;
  }
  return all;
}

const monitor = fc.constantFrom<Monitor>("normal", "normal", "critical");
const clock = fc.integer({ min: 0, max: 47 });
const action = fc.oneof(
  fc.tuple(fc.constantFrom("down" as const, "up" as const), monitor),
  fc.tuple(fc.constant("wait" as const), fc.integer({ min: 1, max: 8 })),
  fc.tuple(fc.constant("hours" as const), clock, clock).filter(([, from, until]) => from !== until),
  fc.constantFrom<Action>(["restart"], ["kill"]),
);

test("a channel gets what the documentation of quiet hours says", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(action, { minLength: 4, maxLength: 14 }), async (actions) => {
      expect(await observe(actions)).toEqual(predict(actions));
    }),
    limitTries(4),
  );
}, 240_000);
