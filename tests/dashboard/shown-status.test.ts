import { expect, test } from "bun:test";
import { determineShownStatus } from "../../src/dashboard/rules.ts";
import { buildHeadline } from "../../web/pages/wall/wall-rules.ts";

const late = "Not judged: too many other checks are under way.";

test("a row with an unjudged last check shows that, unless its state is worse or not from a check", () => {
  const shownStatuses = (
    ["up", "degraded", "pending", "down", "maintenance", "paused"] as const
  ).map((status) => [status, determineShownStatus({ status, lastMessage: late })]);
  expect(Object.fromEntries(shownStatuses)).toEqual({
    up: "unknown",
    degraded: "unknown",
    pending: "unknown",
    down: "down",
    maintenance: "maintenance",
    paused: "paused",
  });
  for (const lastMessage of [null, "", "HTTP 200 (OK) in 3 ms.", "judged"])
    expect(determineShownStatus({ status: "up", lastMessage })).toBe("up");
});

test("the wall does not show “all up” with unjudged monitors", () => {
  const monitors = ["up", "unknown", "up"].map((status) => ({ status }));
  expect(buildHeadline({ monitors } as never)).toEqual({
    state: "unknown",
    parts: [{ state: "unknown", words: "1 not judged" }],
  });
  const mixed = [...monitors, { status: "down" }, { status: "degraded" }];
  expect(buildHeadline({ monitors: mixed } as never).parts.map(({ words }) => words)).toEqual([
    "1 down",
    "1 degraded",
  ]);
  const many = Array.from({ length: 1_200 }, () => ({ status: "down" }));
  expect(buildHeadline({ monitors: many } as never).parts[0]?.words).toBe("1,200 down");
  const worse = [...monitors, { status: "down" }];
  expect(buildHeadline({ monitors: worse } as never).state).toBe("down");
});
