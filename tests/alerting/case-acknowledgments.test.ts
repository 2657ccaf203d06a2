/** Acknowledgments in Signalbox, and the cases of the alert at PagerDuty, Opsgenie and Jira Service Management. */
import { describe, expect, test } from "bun:test";
import { createCaseServices, type ServiceMode } from "../support/case-services.ts";
import type { Json } from "../support/json.ts";
import { createPager } from "../support/pager.ts";

const services = ["pagerduty", "opsgenie", "jsm"] as const;

type Start = { state?: "down" | "slow"; mode?: ServiceMode };

/** A monitor that is down, with an open case at each service. A second PagerDuty channel has none. */
async function createWorld({ state = "down", mode = "well" }: Start = {}) {
  const fakes = createCaseServices();
  fakes.behave(mode);
  const pager = await createPager({ exchange: fakes.exchange });
  const pagerduty = await pager.channel({ type: "pagerduty", routingKey: "r".repeat(32) });
  const opsgenie = await pager.channel({ type: "opsgenie", apiKey: "key" });
  const jsm = await pager.channel({ type: "jsm", apiKey: "key" });
  await pager.channel({ type: "pagerduty", routingKey: "s".repeat(32) });
  const shop = await pager.createWatchedJob([pagerduty, opsgenie, jsm], {
    name: "Shop",
    degradedAfterMs: 500,
  });
  await shop.changeState(state);
  await pager.later();
  const [{ id }] = (await pager.readAlerts()) as [Json];
  const act = async (action: string, body?: object) => {
    const path = `/api/v1/alerts/${id}/${action}`;
    const { status } = await pager.api("POST", path, body === undefined ? {} : { body });
    expect(status).toBe(200);
    await pager.later();
  };
  /** The status of each case, oldest first. */
  const buildStatuses = () =>
    Object.fromEntries(
      services.map((service) => [service, fakes.cases[service].map(({ status }) => status).join()]),
    );
  return {
    ...pager,
    ...fakes,
    channels: { pagerduty, opsgenie, jsm },
    shop,
    id,
    act,
    buildStatuses,
  };
}

const listAll = (status: string) => ({ pagerduty: status, opsgenie: status, jsm: status });

const reopened = {
  pagerduty: "resolved,triggered",
  opsgenie: "triggered",
  jsm: "resolved,triggered",
};

describe("an acknowledgment", () => {
  test("acknowledges the open cases, once, and is logged", async () => {
    const { act, buildStatuses, cases, pages, channels, api, id, readAlert, readDeliveries } =
      await createWorld();
    await act("acknowledge");
    expect(buildStatuses()).toEqual(listAll("acknowledged"));
    const { acknowledgments, timeline } = await readAlert(id);
    const note = `Acknowledged by ${acknowledgments[0].name} in Signalbox.`;
    expect(cases.opsgenie[0]?.notes).toEqual([note]);
    expect(cases.jsm[0]?.notes).toEqual([note]);
    expect(pages).toHaveLength(3);
    const sent = await readDeliveries(channels.pagerduty);
    expect(sent).toMatchObject([
      { caseChange: null, status: "delivered" },
      { caseChange: "acknowledge", status: "delivered", alertIds: [id] },
    ]);
    expect(timeline).toContainEqual(
      expect.objectContaining({ type: "sent", message: "Acknowledgment: Shop is down" }),
    );
    await api("POST", `/api/v1/alerts/${id}/acknowledge`);
    expect(await readDeliveries(channels.pagerduty)).toHaveLength(2);
  });

  test("follows the outage, although the services were broken, and after a restart", async () => {
    const { behave, act, later, restart, buildStatuses, pages } = await createWorld({
      mode: "broken",
    });
    await act("acknowledge");
    restart();
    await later();
    expect(buildStatuses()).toEqual(listAll(""));
    behave("well");
    for (let i = 0; i < 4; i++) await later(900);
    expect(buildStatuses()).toEqual(listAll("acknowledged"));
    expect(pages).toHaveLength(3);
  });

  test("that was removed pages again", async () => {
    const { act, buildStatuses, pages, cases, shop, later, open } = await createWorld();
    await act("acknowledge");
    await act("unacknowledge");
    expect(buildStatuses()).toEqual(reopened);
    expect(pages).toHaveLength(6);
    expect(cases.opsgenie[0]?.notes?.at(-1)).toBe("Opened again in Signalbox.");
    await act("acknowledge");
    expect(buildStatuses()).toEqual({
      ...listAll("resolved,acknowledged"),
      opsgenie: "acknowledged",
    });
    await shop.changeState("up");
    await later();
    expect(services.flatMap((service) => open(service))).toEqual([]);
  });

  test("that was removed at once sends nothing", async () => {
    const { api, id, later, buildStatuses, pages, channels, readDeliveries } = await createWorld();
    await api("POST", `/api/v1/alerts/${id}/acknowledge`);
    await api("POST", `/api/v1/alerts/${id}/unacknowledge`);
    await later();
    expect(buildStatuses()).toEqual(listAll("triggered"));
    expect(pages).toHaveLength(3);
    expect(await readDeliveries(channels.pagerduty)).toHaveLength(1);
  });

  test("is not extended to a problem that got worse", async () => {
    const { act, buildStatuses, pages, shop, later } = await createWorld({ state: "slow" });
    await act("acknowledge");
    expect(buildStatuses()).toEqual(listAll("acknowledged"));
    await shop.changeState("down");
    await later();
    expect(buildStatuses()).toEqual(listAll("resolved,triggered"));
    expect(pages).toHaveLength(6);
  });

  test("changes all cases, although each needs a write of its own", async () => {
    const { act, appliance, restart, buildStatuses, pages } = await createWorld();
    Object.assign(appliance, { rowsAtOnce: 2 });
    restart();
    await act("acknowledge");
    expect(buildStatuses()).toEqual(listAll("acknowledged"));
    await act("unacknowledge");
    expect(buildStatuses()).toEqual(reopened);
    expect(pages).toHaveLength(6);
  });

  test("is extended to a channel that is attached later", async () => {
    const { act, api, buildStatuses, shop, later, cases } = await createWorld();
    await act("acknowledge");
    const { json } = await api("GET", "/api/v1/alert-channels");
    await shop.change({ alertChannelIds: json.data.map(({ id }: Json) => id) });
    await later();
    expect(cases.pagerduty.map(({ status }) => status)).toEqual(["acknowledged", "acknowledged"]);
    expect(buildStatuses()).toMatchObject({ opsgenie: "acknowledged", jsm: "acknowledged" });
  });
});

describe("a snooze", () => {
  test("acknowledges the cases, and its end pages again", async () => {
    const { act, buildStatuses, pages, cases, time, later, restart } = await createWorld();
    await act("snooze", { until: new Date(time.now + 3_600_000).toISOString() });
    expect(buildStatuses()).toEqual(listAll("acknowledged"));
    expect(cases.jsm[0]?.notes).toEqual(["Snoozed in Signalbox."]);
    restart();
    await later(1_800);
    expect(pages).toHaveLength(3);
    await later(1_900);
    await later();
    expect(buildStatuses()).toEqual(reopened);
    expect(pages).toHaveLength(6);
  });
});
