import { expect, test } from "bun:test";
import {
  BlockedTarget,
  CertificateFailure,
  ConnectFailure,
  ResolverFailure,
  TargetFailure,
} from "../../../src/core/outgoing/failures.ts";
import { type Attempt, listCauses } from "../../../src/monitoring/checks/cause-rules.ts";

const attempt: Attempt = {
  type: "http",
  step: "connecting",
  isTimeout: false,
  destination: { host: "DB1.lan", addresses: ["10.0.0.5"] },
};
const list = (error: unknown, change: Partial<Attempt> = {}) =>
  listCauses(error, { ...attempt, ...change }).map(({ kind, value }) => `${kind} ${value}`);
const refused = Object.assign(new Error(), { code: "ECONNREFUSED" });

test("a host that accepts no connection shares its name and its addresses", () => {
  const hostAndAddress = ["host db1.lan", "address 10.0.0.5"];
  expect(list(refused)).toEqual(hostAndAddress);
  expect(list(new ConnectFailure())).toEqual(hostAndAddress);
  expect(list(new Error(), { isTimeout: true })).toEqual(hostAndAddress);
  const step = "waiting for the response";
  expect(list(new TargetFailure("No reply."), { type: "ping", step })).toEqual(hostAndAddress);
  expect(list(refused, { type: "docker" })).toEqual(["container-host db1.lan", ...hostAndAddress]);
  const literal = { host: "10.0.0.5", addresses: ["10.0.0.5"] };
  expect(list(refused, { destination: literal })).toEqual(["address 10.0.0.5"]);
});

test("a name that is not found shares only the name", () => {
  const destination = { host: "db1.lan", addresses: [] };
  const error = new TargetFailure("The host name was not found in DNS.");
  expect(list(error, { step: "resolving the name", destination })).toEqual(["host db1.lan"]);
});

test("a wrong or late response shares nothing, even at the same address", () => {
  for (const step of ["waiting for the response", "reading the response"] as const) {
    expect(list(new TargetFailure("HTTP 500, expected 200."), { step })).toEqual([]);
    expect(list(new Error(), { step, isTimeout: true })).toEqual([]);
  }
  expect(list(Object.assign(new Error(), { code: "ECONNRESET" }))).toEqual([]);
  expect(list(refused, { destination: null })).toEqual([]);
  expect(list(new BlockedTarget("is blocked", "10.0.0.5"))).toEqual([]);
});

test("a name server counts only if it does not respond, a certificate only if it is not trusted", () => {
  const step = "waiting for the response";
  const silent = new ResolverFailure("The name server does not respond.");
  expect(list(silent, { type: "dns", step })).toEqual(["resolver db1.lan"]);
  expect(list(new Error(), { type: "dns", step, isTimeout: true })).toEqual(["resolver db1.lan"]);
  expect(list(new TargetFailure("There is no A record."), { type: "dns", step })).toEqual([]);
  const expired = { issue: "The certificate has expired.", fingerprint: "7F:E8" };
  expect(list(new CertificateFailure(expired))).toEqual(["certificate 7F:E8"]);
});
