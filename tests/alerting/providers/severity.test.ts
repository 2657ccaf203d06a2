import { expect, test } from "bun:test";
import type { Alert } from "../../../src/alerting/alert.ts";
import { opsgenie } from "../../../src/alerting/providers/opsgenie.ts";
import { pagerduty } from "../../../src/alerting/providers/pagerduty.ts";
import {
  createAlert,
  alertTypes,
  startReceiver,
  createAlertStorm,
  createMessage,
} from "../../support/alert-receiver.ts";

const buildIncident = (severity: "minor" | "major" | "critical") => ({
  incident: { id: "1", title: "Slow", status: "identified", severity, monitorId: null },
});
const createExpiryAlert = (daysLeft: number) => createAlert("certificate.expiring", { daysLeft });

const graded: [string, Alert, pagerduty: string, opsgenie: string][] = [
  ["an outage", createAlert("monitor.down"), "critical", "P1"],
  ["a reminder of an outage", createAlert("monitor.reminder"), "critical", "P1"],
  ["a degradation", createAlert("monitor.degraded"), "warning", "P3"],
  ["flapping", createAlert("monitor.flapping"), "warning", "P3"],
  ["two weeks of a certificate", createExpiryAlert(13), "warning", "P3"],
  ["three days of a certificate", createExpiryAlert(3), "warning", "P3"],
  ["the last days of a certificate", createExpiryAlert(2), "error", "P2"],
  ["a certificate that has expired", createExpiryAlert(-1), "critical", "P1"],
  ...(["opened", "updated"] as const).flatMap((step): typeof graded => [
    [
      `a minor incident, ${step}`,
      createAlert(`incident.${step}`, buildIncident("minor")),
      "warning",
      "P3",
    ],
    [
      `a major incident, ${step}`,
      createAlert(`incident.${step}`, buildIncident("major")),
      "error",
      "P2",
    ],
    [
      `a critical one, ${step}`,
      createAlert(`incident.${step}`, buildIncident("critical")),
      "critical",
      "P1",
    ],
  ]),
  ["a channel that fails", createAlert("channel.failed"), "warning", "P3"],
  ["a problem of the appliance", createAlert("appliance.troubled"), "error", "P2"],
  [
    "a less severe problem",
    createAlert("appliance.troubled", { severity: "warning" }),
    "warning",
    "P3",
  ],
  ["a report of a tool", createAlert("source.opened"), "error", "P2"],
  ["a more urgent report", createAlert("source.changed"), "critical", "P1"],
  ["a drill", createAlert("drill"), "critical", "P1"],
  ["the notice of a shift", createAlert("shift.starting"), "info", "P5"],
  ["a test", createAlert("test"), "info", "P5"],
];

test.each(graded)(
  "%s has its severity from the table",
  async (_name, alert, severity, priority) => {
    await using to = await startReceiver();
    await to.deliver(pagerduty, { routingKey: "r", region: "us" }, createMessage(alert));
    expect(to.parseLastBody().payload.severity).toBe(severity);
    await to.deliver(opsgenie, { apiKey: "key", region: "us" }, createMessage(alert));
    expect(to.parseLastBody().priority).toBe(priority);
  },
);

test("every type of alert that opens a case has a severity", () => {
  const tested = new Set(graded.map(([, alert]) => alert.type));
  const closing = ["monitor.up", "incident.resolved", "appliance.recovered", "source.resolved"];
  expect(alertTypes.filter((type) => !tested.has(type))).toEqual(closing as typeof alertTypes);
});

test("a digest has the highest severity among the latest alerts of its subjects", () => {
  expect(createMessage([...createAlertStorm(2), createAlert("monitor.degraded")]).severity).toBe(
    "critical",
  );
  expect(createMessage([createAlert("monitor.down"), createAlert("monitor.up")]).severity).toBe(
    "info",
  );
});
