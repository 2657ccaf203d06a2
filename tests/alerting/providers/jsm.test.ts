import { expect, test } from "bun:test";
import { jsm } from "../../../src/alerting/providers/opsgenie.ts";
import { opsgenie } from "../../../src/alerting/providers/opsgenie.ts";
import {
  alertOf,
  alertTypes,
  doubted,
  monitor,
  receiver,
  telling,
  verdictOn,
} from "../../support/delivering.ts";
import { answer } from "../../support/target.ts";

const settings = { apiKey: "eb243592-7f3a" };
const api = "https://api.atlassian.com/jsm/ops/integration/v2/alerts";

test("an outage opens an alert at the address of Jira Service Management, its recovery closes it by its alias", async () => {
  await using to = await receiver();
  await to.deliver(jsm, settings, telling(alertOf("monitor.down")));
  await to.deliver(jsm, settings, telling(alertOf("monitor.up")));
  expect(to.urls).toEqual([api, `${api}/signalbox-${monitor.id}/close?identifierType=alias`]);
  for (const { method, headers } of to.asked)
    expect([method, headers.authorization]).toEqual(["POST", "GenieKey eb243592-7f3a"]);
});

test("what it is told is what Opsgenie is told, of every type of alert", async () => {
  for (const type of alertTypes) {
    await using to = await receiver();
    await to.deliver(jsm, settings, telling(alertOf(type)));
    await to.deliver(opsgenie, { ...settings, region: "us" }, telling(alertOf(type)));
    const [here, there] = to.asked;
    expect(here?.body).toBe(there?.body ?? "");
  }
});

test("202 is success, and what it refuses is said in its name", async () => {
  expect(await verdictOn(answer(202), jsm, settings)).toEqual({ outcome: "delivered" });
  expect(await verdictOn(answer(401), jsm, settings)).toEqual(
    doubted(
      "Jira Service Management says that the API key is not valid, or its integration is off.",
    ),
  );
});
