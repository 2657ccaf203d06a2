import { expect, test } from "bun:test";
import { formatTarget } from "../../../src/monitoring/monitors/rules.ts";
import { watchedFields, formatFullTarget } from "../../../src/monitoring/monitors/target-rules.ts";
import { monitorKinds } from "../../../src/monitoring/monitors/kinds-schema.ts";
import { newMonitors } from "../../support/samples.ts";

const secret = "S3CRET";
const noTarget = { url: null, port: null };
const formatTargetOf = (type: string, fields: Record<string, unknown>) => {
  const watched = watchedFields.map((name) => fields[name]).find((value) => value !== undefined);
  return formatTarget({
    type,
    ...noTarget,
    ...fields,
    watched: (watched ?? null) as string | null,
  });
};

test.each([
  ["http", { url: "https://shop.lan/" }, "https://shop.lan"],
  ["http", { url: "HTTPS://Shop.lan:8443/a/b/?token=S3CRET#S3CRET" }, "https://shop.lan:8443/a/b/"],
  ["http", { url: "http://ann:S3CRET@shop.lan/" }, "http://shop.lan"],
  ["http", { url: "http://[fd00::5]:3210/x" }, "http://[fd00::5]:3210/x"],
  ["tcp", { host: "db.lan", port: 5432 }, "db.lan:5432"],
  ["tcp", { host: "fd00::5", port: 5432 }, "[fd00::5]:5432"],
  ["tls", { host: "mail.lan", port: 443 }, "mail.lan"],
  ["tls", { host: "mail.lan", port: 8443 }, "mail.lan:8443"],
  ["ping", { host: "192.168.1.1" }, "192.168.1.1"],
  ["domain", { domain: "example.org" }, "example.org"],
  ["command", { command: "a/b.sh" }, "a/b.sh"],
  ["docker", { container: "shop-db", host: null, port: 2376 }, "shop-db"],
  ["docker", { container: "label=app=shop", host: "docker.lan", port: 2376 }, "label=app=shop"],
  ["systemd", { unit: "nginx.service" }, "nginx.service"],
  ["push", {}, null],
])("the target of a monitor of type %s with %j is %p", (type, fields, expected) => {
  expect(formatTargetOf(type, fields)).toBe(expected);
  expect(formatTargetOf(type, fields) ?? "").not.toContain(secret);
});

test("every monitor type except push, composite and manual has a target", () => {
  const types = Object.keys(monitorKinds) as (keyof typeof newMonitors)[];
  expect(types.filter((type) => formatTargetOf(type, newMonitors[type]) === null)).toEqual([
    "push",
    "composite",
    "manual",
  ]);
  expect(types.filter((type) => formatFullTarget({ ...newMonitors[type], type }) === null)).toEqual(
    ["push", "composite", "manual"],
  );
});
