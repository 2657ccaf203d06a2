import { expect, test } from "bun:test";
import type { Alert } from "../../../src/alerting/alert.ts";
import { opsgenie } from "../../../src/alerting/providers/opsgenie.ts";
import { pagerduty } from "../../../src/alerting/providers/pagerduty.ts";
import { alertOf, alertTypes, receiver, storm, telling } from "../../support/delivering.ts";

const incident = (severity: "minor" | "major" | "critical") => ({
  incident: { id: "1", title: "Slow", status: "identified", severity, monitorId: null },
});
const lasts = (daysLeft: number) => alertOf("certificate.expiring", { daysLeft });

const graded: [string, Alert, pagerduty: string, opsgenie: string][] = [
  ["an outage", alertOf("monitor.down"), "critical", "P1"],
  ["a reminder of an outage", alertOf("monitor.reminder"), "critical", "P1"],
  ["a degradation", alertOf("monitor.degraded"), "warning", "P3"],
  ["flapping", alertOf("monitor.flapping"), "warning", "P3"],
  ["two weeks of a certificate", lasts(13), "warning", "P3"],
  ["three days of a certificate", lasts(3), "warning", "P3"],
  ["the last days of a certificate", lasts(2), "error", "P2"],
  ["a certificate that has expired", lasts(-1), "critical", "P1"],
  ...(["opened", "updated"] as const).flatMap((step): typeof graded => [
    [`a minor incident, ${step}`, alertOf(`incident.${step}`, incident("minor")), "warning", "P3"],
    [`a major incident, ${step}`, alertOf(`incident.${step}`, incident("major")), "error", "P2"],
    [
      `a critical one, ${step}`,
      alertOf(`incident.${step}`, incident("critical")),
      "critical",
      "P1",
    ],
  ]),
  ["a channel that fails", alertOf("channel.failed"), "warning", "P3"],
  ["a problem of the appliance", alertOf("appliance.troubled"), "error", "P2"],
  [
    "a less severe problem",
    alertOf("appliance.troubled", { severity: "warning" }),
    "warning",
    "P3",
  ],
  ["a test", alertOf("test"), "info", "P5"],
];

test.each(graded)(
  "%s has its severity from the table",
  async (_name, alert, severity, priority) => {
    await using to = await receiver();
    await to.deliver(pagerduty, { routingKey: "r", region: "us" }, telling(alert));
    expect(to.body().payload.severity).toBe(severity);
    await to.deliver(opsgenie, { apiKey: "key", region: "us" }, telling(alert));
    expect(to.body().priority).toBe(priority);
  },
);

test("every type of alert that opens a case has a severity", () => {
  const tested = new Set(graded.map(([, alert]) => alert.type));
  const closing = ["monitor.up", "incident.resolved", "appliance.recovered"];
  expect(alertTypes.filter((type) => !tested.has(type))).toEqual(closing as typeof alertTypes);
});

test("a digest has the highest severity among the latest alerts of its subjects", () => {
  expect(telling([...storm(2), alertOf("monitor.degraded")]).severity).toBe("critical");
  expect(telling([alertOf("monitor.down"), alertOf("monitor.up")]).severity).toBe("info");
});
