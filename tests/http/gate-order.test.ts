import { expect, test } from "bun:test";
import { type Options, testAppliance, unknownId } from "../support/appliance.ts";

const incidents = "/api/v1/incidents";
const unknown = `${incidents}/${unknownId}`;
const long = "x".repeat(256 * 1024 + 1);

type Mistake = {
  key: "none" | "read" | "write";
  method: string;
  path: string;
  options?: Options;
  /** The key has reached its rate limit. */
  exhausted?: boolean;
};

const steps: [rule: string, expected: [number, string], wrong: Mistake][] = [
  [
    "without a host and without a key it is malformed",
    [400, "BAD_REQUEST"],
    { key: "none", method: "GET", path: incidents, options: { headers: { Host: "" } } },
  ],
  [
    "without a key an unknown path is unauthorized: strangers learn nothing about paths",
    [401, "UNAUTHORIZED"],
    { key: "none", method: "GET", path: "/api/v1/nothing" },
  ],
  [
    "without a key a wrong method is unauthorized",
    [401, "UNAUTHORIZED"],
    { key: "none", method: "PUT", path: incidents },
  ],
  [
    "a read key that writes to an unknown path gets 404",
    [404, "NOT_FOUND"],
    { key: "read", method: "POST", path: "/api/v1/nothing" },
  ],
  [
    "a read key with a wrong method gets the allowed methods",
    [405, "METHOD_NOT_ALLOWED"],
    { key: "read", method: "PUT", path: incidents },
  ],
  [
    "an exhausted read key that writes is forbidden",
    [403, "FORBIDDEN"],
    { key: "read", method: "POST", path: incidents, exhausted: true },
  ],
  [
    "an exhausted key with a wrong media type has to wait",
    [429, "RATE_LIMITED"],
    {
      key: "write",
      method: "POST",
      path: incidents,
      options: { raw: "x", headers: { "Content-Type": "text/plain" } },
      exhausted: true,
    },
  ],
  [
    "a long body of a wrong media type is a wrong media type",
    [415, "UNSUPPORTED_MEDIA_TYPE"],
    {
      key: "write",
      method: "POST",
      path: incidents,
      options: { raw: long, headers: { "Content-Type": "text/plain" } },
    },
  ],
  [
    "a long unreadable body is too large",
    [413, "PAYLOAD_TOO_LARGE"],
    { key: "write", method: "POST", path: incidents, options: { raw: long } },
  ],
  [
    "an unreadable body with an unknown parameter is unreadable",
    [400, "INVALID_JSON"],
    { key: "write", method: "POST", path: `${incidents}?x=1`, options: { raw: "{" } },
  ],
  [
    "a wrong value for an unknown record is a wrong value",
    [422, "VALIDATION_ERROR"],
    { key: "write", method: "PATCH", path: unknown, options: { body: { status: "gone" } } },
  ],
  [
    "a stale If-Match for an unknown record names no record",
    [404, "NOT_FOUND"],
    {
      key: "write",
      method: "DELETE",
      path: unknown,
      options: { headers: { "If-Match": '"0-x"' } },
    },
  ],
];

for (const [rule, expected, { key, method, path, options, exhausted }] of steps)
  test(rule, async () => {
    const { ours, stranger } = await testAppliance({ requestsPerMinute: 1 });
    const client = { none: stranger, read: ours.reader, write: ours.api }[key];
    if (exhausted) expect((await client("GET", incidents)).status).toBe(200);
    const { status, json } = await client(method, path, options);
    expect([status, json.error.code]).toEqual(expected);
  });
