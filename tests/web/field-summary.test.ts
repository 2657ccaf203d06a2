/** The monitor editor: summaries of collapsed sections, and the default interval of each type. */
import { expect, test } from "bun:test";
import { z } from "zod";
import { channelKinds } from "../../src/alerting/channels/kinds-schema.ts";
import type { FieldLabels } from "../../src/core/kinds.ts";
import { monitorKinds, type MonitorType } from "../../src/monitoring/monitors/kinds-schema.ts";
import { monitorFields } from "../../src/monitoring/monitors/schema.ts";
import { summarizeFields } from "../../web/components/forms/field-summary.ts";
import { describeField } from "../../web/components/forms/field-kinds.ts";
import { labelsOf } from "../../web/pages/monitors/editor/labels.ts";
import {
  listCommonSections,
  listOwnSections,
  scheduleFieldsOf,
  selectInterval,
} from "../../web/pages/monitors/editor/sections.ts";

const types = Object.keys(monitorKinds) as MonitorType[];
const fieldsOf = (type: MonitorType) => ({ ...monitorKinds[type].fields, ...monitorFields });

/** Summaries of the closed parts of a monitor's editor, by title. */
function summarize(type: MonitorType, values: Record<string, unknown>) {
  const fields: Record<string, (typeof monitorFields)["name"]> = fieldsOf(type) as never;
  const sections = [...listOwnSections(type), ...listCommonSections(type)].filter(
    ({ folded }) => folded,
  );
  return Object.fromEntries(
    sections.map(({ title, fields: names, key = [] }) => [
      title,
      summarizeFields(
        names.map((name) => {
          const kind = describeField(fields[name] ?? monitorFields.name);
          const value = values[name] ?? kind.initial;
          return { name, kind, labels: labelsOf(type, name), value, isKey: key.includes(name) };
        }),
      ),
    ]),
  );
}

test("each field is in one place of its editor, and never closed if it is required", () => {
  // A push job sends its own results, so there is no response to wait for. People set a manual status.
  const polling = ["timeout", "retryInterval", "confirmations"];
  const judging = ["interval", "retries", "successThreshold", "degradedAfterMs", "inverted"];
  const without = { push: polling, manual: [...polling, ...judging] } as Record<string, string[]>;
  for (const type of types) {
    const sections = [...listOwnSections(type), ...listCommonSections(type)];
    const places = [
      "name",
      "groupId",
      "alertChannelIds",
      "escalationPolicyId",
      "paused",
      "pausedUntil",
      ...scheduleFieldsOf(type),
      ...sections.flatMap(({ fields }) => fields),
      ...(without[type] ?? []),
    ];
    expect([type, places.toSorted()]).toEqual([type, Object.keys(fieldsOf(type)).toSorted()]);
  }
});

test("no hint contains words of the API", () => {
  for (const type of types)
    for (const [name, field] of Object.entries(fieldsOf(type))) {
      const { parts = {} } = describeField(field);
      const hints = [
        labelsOf(type, name)?.hint,
        ...(name === "number" ? Object.keys(parts) : []).map(
          (part) => labelsOf(type, `number.${part}`)?.hint,
        ),
      ];
      expect([type, name, hints.filter((hint) => hint?.includes("`"))]).toEqual([type, name, []]);
    }
  for (const [type, { fields, labels }] of Object.entries(channelKinds)) {
    const texts: Record<string, FieldLabels | undefined> = labels;
    for (const name of Object.keys(fields)) {
      const hint = texts[name]?.hint ?? "";
      expect([type, name, hint]).toEqual([type, name, expect.not.stringContaining("`")]);
    }
  }
});

test("a field with a default starts with a value", () => {
  for (const type of types)
    for (const [name, field] of Object.entries(fieldsOf(type)))
      if (field instanceof z.ZodDefault)
        expect([type, name, describeField(field).initial]).not.toEqual([type, name, undefined]);
  expect(describeField(monitorKinds.http.fields.steps).initial).toEqual([]);
});

test("credentials are in one section, open if they are required, and separate from the target", () => {
  const signIn = types.flatMap((type) => {
    const section = listOwnSections(type).find(({ title }) => title === "Authentication");
    return section === undefined ? [] : [[type, section.folded, section.fields] as const];
  });
  expect(signIn).toContainEqual(["radius", false, ["secret", "username", "password"]]);
  expect(signIn).toContainEqual(["postgres", false, ["username", "password"]]);
  expect(signIn).toContainEqual(["kafka", true, ["mechanism", "username", "password"]]);
  for (const type of types) {
    const target = listOwnSections(type).find(({ title }) => title === "")?.fields ?? [];
    expect([type, target.filter((name) => name in monitorKinds[type].secrets)]).toEqual([type, []]);
  }
});

test("a closed part shows its key fields and all changes", () => {
  expect(summarize("http", { timeout: 10 })).toEqual({
    Assertions: "Expected status: 200–299",
    Number: "",
    Request: "Method: GET",
    Authentication: "",
    Steps: "",
    TLS: "Verify the certificate · Certificate warning 14 days",
    Connection: "",
    Timing: "Timeout 10 s · Retry interval 10 s",
    Alerts: "",
    "Notes & tags": "",
  });
  expect(
    summarize("http", {
      keyword: "ok",
      assertions: [{}, {}],
      headers: { accept: "a" },
      verifyTls: false,
      followRedirects: false,
      degradedAfterMs: 1_500,
      autoIncidentSeverity: "major",
      reminderInterval: 3_600,
      description: "**Payments** of the [shop](https://shop.example/)",
      tags: ["prod", "pci"],
    }),
  ).toMatchObject({
    Assertions: "Expected status: 200–299 · Must contain: ok · 2 assertions",
    Request: "Method: GET · 1 header · Follow redirects: no",
    TLS: "Verify the certificate: no · Certificate warning 14 days",
    Timing: "Retry interval 10 s · Degraded after 1,500\u202fms",
    Alerts: "Open incidents automatically: Major · Repeat alert every 1 h",
    "Notes & tags": "Payments of the shop (https://shop.example/) · Tags: prod, pci",
  });
  expect(summarize("push", {})["Timing"]).toBe("Retries 1");
});

test("a connection is summarized by its proxy, its certificate and other changes", () => {
  const values = { clientCertificate: "-----BEGIN CERTIFICATE-----", clientKey: "secret" };
  const connectionFields = {
    proxyUrl: "http://proxy.lan:3128",
    proxyPassword: "secret",
    ipFamily: "6",
  };
  expect(summarize("http", { ...values, ...connectionFields })["Connection"]).toBe(
    "Proxy: http://proxy.lan:3128 · Proxy password · Client certificate · Client key · IP version: IPv6 only",
  );
});

test("a secret is named, and never shown", () => {
  const text = summarize("http", {
    bearerToken: "CANARY",
    basicAuth: { username: "ann", password: "CANARY" },
  });
  expect(text["Authentication"]).toBe("Basic authentication · Bearer token");
});

test("a new domain is checked every hour, unless someone chose an interval", () => {
  expect(selectInterval(undefined, "http", "domain")).toBe(3_600);
  expect(selectInterval(3_600, "domain", "tcp")).toBe(60);
  expect(selectInterval(undefined, "http", "tcp")).toBeUndefined();
  expect(selectInterval(300, "http", "domain")).toBe(300);
  expect(selectInterval(7_200, "domain", "http")).toBe(7_200);
});
