/** Compares the engine with a model written from the documentation of escalation policies. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { createPager } from "../support/pager.ts";
import { limitTries } from "../support/property-runs.ts";

type Action = "down" | "up" | "acknowledge" | "unacknowledge" | "snooze" | "restart" | "wait";
type Case = { minutes: number[]; repeat: number; actions: (readonly [Action, number])[] };

const stepMs = 10_000;

/** The channels of the steps and of the end, with the minute in which each is notified. */
function predict({ minutes, repeat, actions }: Case): string[] {
  const last = minutes.at(-1) ?? 0;
  const round = last + Math.max(last - (minutes.at(-2) ?? 0), 5);
  const all = Array.from({ length: repeat + 1 }, (_, index) =>
    minutes.map((after, step) => ({ channel: `step ${step}`, after: index * round + after })),
  ).flat();
  const stages = [...all, { channel: "default", after: (repeat + 1) * round }];
  const sent: string[] = [];
  let state: { from: number; next: number; quiet: "no" | "acknowledged" | number } | null = null;
  const message = new Set<string>();
  let now = 0;
  const inspect = () => {
    if (state === null) return;
    if (typeof state.quiet === "number" && state.quiet <= now)
      state = { from: now, next: 0, quiet: "no" };
    while (state.quiet === "no" && state.next < stages.length) {
      const { channel, after } = stages[state.next] as (typeof stages)[number];
      if (state.from + after * 60_000 > now) return;
      sent.push(`${Math.round(now / 60_000)} ${channel}`);
      message.add(channel);
      state.next += 1;
    }
  };
  for (const [action, wait] of actions) {
    if (action === "down" && state === null) state = { from: now, next: 0, quiet: "no" };
    if (action === "up" && state !== null) {
      for (const channel of [...message].toSorted())
        sent.push(`${Math.round(now / 60_000)} ${channel} up`);
      message.clear();
      state = null;
    }
    if (action === "acknowledge" && state !== null) state.quiet = "acknowledged";
    if (action === "snooze" && state !== null) state.quiet = now + 5 * 60_000;
    if (action === "unacknowledge" && state !== null && state.quiet !== "no") {
      const scheduled = state.from + (stages[state.next]?.after ?? Infinity) * 60_000;
      // The end, if it was reached, is reported again.
      if (state.next === stages.length) state.next -= 1;
      else state.from += Math.max(0, now - scheduled);
      state.quiet = "no";
    }
    inspect();
    for (let elapsed = 0; elapsed < wait; elapsed++) {
      now += stepMs;
      inspect();
    }
  }
  return sent;
}

async function observe({ minutes, repeat, actions }: Case): Promise<string[]> {
  const pager = await createPager();
  const { api, time } = pager;
  const names = [...minutes.map((_, step) => `step ${step}`), "default"];
  const inboxes = await Promise.all(
    names.map((name) => pager.inbox({ name, default: name === "default" })),
  );
  const steps = minutes.map((afterMinutes, step) => ({
    afterMinutes,
    targets: [{ type: "channel", id: inboxes[step]?.id }],
  }));
  const policy = await api("POST", "/api/v1/escalation-policies", {
    body: { name: "Shop", steps, repeat },
  });
  const fields = { name: "A", escalationPolicyId: policy.json.data.id };
  const job = await pager.createWatchedJob([], fields);
  await job.change({ alertChannelIds: [] });
  const start = time.now;
  const seen = inboxes.map(() => 0);
  const sent: string[] = [];
  let isDown = false;
  const collect = () => {
    const minute = Math.round((time.now - start) / 60_000);
    const arrived = inboxes.flatMap((inbox, index) => {
      const all = inbox.listTitles();
      const fresh = all.slice(seen[index]);
      seen[index] = all.length;
      return fresh.map((title) => `${minute} ${names[index]}${title.includes("up") ? " up" : ""}`);
    });
    sent.push(...arrived.toSorted());
  };
  for (const [action, wait] of actions) {
    if (action === "down" || action === "up") {
      if (isDown !== (action === "down")) await job.changeState(action);
      isDown = action === "down";
    } else if (action === "restart") pager.restart();
    else if (action !== "wait" && isDown) {
      await pager.later(0);
      const { json } = await api("GET", `/api/v1/alerts?monitorId=${job.id}`);
      const until = new Date(time.now + 5 * 60_000).toISOString();
      const body = action === "snooze" ? { until } : {};
      await api("POST", `/api/v1/alerts/${json.data[0].id}/${action}`, { body });
    }
    for (let elapsed = 0; elapsed < Math.max(wait, 1); elapsed++) {
      await pager.later(stepMs / 1_000);
      collect();
    }
  }
  // The last messages wait for others to join them.
  await pager.later(stepMs / 1_000);
  collect();
  for (const inbox of inboxes) await inbox[Symbol.asyncDispose]();
  return sent;
}

const minutes = fc
  .uniqueArray(fc.integer({ min: 0, max: 12 }), { minLength: 1, maxLength: 3 })
  .map((all) => all.toSorted((a, b) => a - b));
const action = fc.constantFrom<Action>(
  "down",
  "down",
  "up",
  "acknowledge",
  "unacknowledge",
  "snooze",
  "restart",
  "wait",
);
const cases = fc.record({
  minutes,
  repeat: fc.integer({ min: 0, max: 2 }),
  actions: fc.array(fc.tuple(action, fc.integer({ min: 1, max: 80 })), {
    minLength: 2,
    maxLength: 8,
  }),
});

const minutesOf = (all: readonly string[]) => all.map((one) => Number.parseInt(one, 10));
/** Without the minute; deliveries of one minute have no order. */
const textOf = (all: readonly string[]) =>
  all
    .toSorted((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10) || (a < b ? -1 : 1))
    .map((one) => one.replace(/^\d+ /, ""));

test("the engine notifies whom the documentation says, at its minutes", async () => {
  await fc.assert(
    fc.asyncProperty(cases, async (one) => {
      const [wanted, got] = [predict(one), await observe(one)];
      expect(textOf(got)).toEqual(textOf(wanted));
      for (const [index, minute] of minutesOf(got).entries())
        expect(Math.abs(minute - (minutesOf(wanted)[index] ?? NaN))).toBeLessThanOrEqual(1);
    }),
    {
      ...limitTries(3),
      // The last step is due at the moment of the recovery.
      examples: [
        [
          {
            minutes: [5, 10],
            repeat: 1,
            actions: [
              ["down", 75],
              ["down", 75],
              ["up", 1],
            ],
          },
        ],
      ],
    },
  );
}, 240_000);
