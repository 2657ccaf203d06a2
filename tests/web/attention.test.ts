import { describe, expect, test } from "bun:test";
import type { OverviewMonitor } from "../../web/data/overview.ts";
import {
  createTroubledOrder,
  describeNotified,
  keepOrder,
} from "../../web/pages/monitors/attention-rules.ts";

const buildMonitor = (id: string, status: string, statusSince: string) =>
  ({ id, status, statusSince }) as OverviewMonitor;

test("down precedes degraded, acknowledged monitors are last among equals, and the latest is first", () => {
  const all = [
    buildMonitor("slow", "degraded", "2026-11-22T14:30:00.000Z"),
    buildMonitor("old", "down", "2026-11-22T11:40:00.000Z"),
    buildMonitor("new", "down", "2026-11-22T14:31:00.000Z"),
  ];
  const sortWith = (acknowledgedBy: string[]) =>
    all.toSorted(createTroubledOrder(new Map([["new", { acknowledgedBy }]]))).map(({ id }) => id);
  expect(sortWith([])).toEqual(["new", "old", "slow"]);
  expect(sortWith(["Ada"])).toEqual(["old", "new", "slow"]);
});

test("rows do not move under the pointer: new ones are added last, solved ones removed", () => {
  expect(keepOrder(["a", "b", "c"], ["d", "c", "a"])).toEqual(["a", "c", "d"]);
});

type Status = "delivered" | "pending" | "failed" | "held";

describe("notified channels", () => {
  const at = "2026-11-22T14:31:00.000Z";
  const buildNotified = (name: string, status: Status, error?: string) => ({
    id: name,
    name,
    status,
    at,
    error: error ?? null,
  });
  const describeNotifiedChannels = (
    attached: number,
    ...notified: ReturnType<typeof buildNotified>[]
  ) =>
    describeNotified(
      { monitorId: "m", attached, notified, alertId: null, acknowledgedBy: [], incident: null },
      false,
    );

  test("are named; those that failed are counted, because the banner names them", () => {
    expect(
      describeNotifiedChannels(
        2,
        buildNotified("Slack", "delivered"),
        buildNotified("Mail", "failed", "refused"),
      ),
    ).toMatchObject({
      words: "alerted",
      names: ["Slack"],
      at,
      detail: "1 failed",
      hint: "Mail",
      isBad: false,
    });
  });
  test("are shown as none if no channel could be reached, with the reason", () => {
    const noOneReached = { words: "No one reached", detail: "Mail: refused", isBad: true };
    expect(describeNotifiedChannels(1, buildNotified("Mail", "pending", "refused"))).toMatchObject(
      noOneReached,
    );
    expect(describeNotifiedChannels(1, buildNotified("Mail", "failed", "refused"))).toMatchObject(
      noOneReached,
    );
  });
  test("are unknown during the first attempt", () => {
    expect(describeNotifiedChannels(1, buildNotified("Mail", "pending"))).toMatchObject({
      words: "being alerted",
      isBad: false,
    });
  });
  test("are none in their quiet hours", () => {
    const noAlertSent = { words: "No alert sent", detail: "Quiet hours of Mail", isBad: false };
    expect(describeNotifiedChannels(1, buildNotified("Mail", "held"))).toMatchObject(noAlertSent);
    expect(
      describeNotifiedChannels(2, buildNotified("Mail", "held"), buildNotified("Slack", "pending"))
        .words,
    ).toBe("being alerted");
  });
  test("are none without a channel, or if the monitor is muted", () => {
    expect(describeNotifiedChannels(0)).toMatchObject({ detail: "No alert channel", isBad: true });
    const muted = describeNotified(
      {
        monitorId: "m",
        attached: 1,
        notified: [],
        alertId: null,
        acknowledgedBy: [],
        incident: null,
      },
      true,
    );
    expect(muted).toMatchObject({ detail: "Muted", isBad: false });
  });
});
