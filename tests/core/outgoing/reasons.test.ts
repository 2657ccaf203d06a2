import { describe, expect, test } from "bun:test";
import { TargetFailure, LocalFailure } from "../../../src/core/outgoing/failures.ts";
import { classifyFailure } from "../../../src/core/outgoing/failure-reasons.ts";

const createError = (code: string) => Object.assign(new Error(`secret of ${code}`), { code });

describe("of a failure", () => {
  test("in a check, the sentence is the reason", () => {
    for (const error of [new TargetFailure("Down."), new LocalFailure("tired")])
      expect(classifyFailure(error)).toBe(error);
  });

  test("in the network, the target is at fault, in our own words", () => {
    for (const code of [
      "ECONNREFUSED",
      "ECONNRESET",
      "EPIPE",
      "EHOSTUNREACH",
      "ENETUNREACH",
      "ETIMEDOUT",
      "EPROTO",
      "CERT_HAS_EXPIRED",
      "CERT_SIGNATURE_FAILURE",
      "ERR_SSL_WRONG_VERSION_NUMBER",
      "ERR_SSL_ANYTHING_ELSE",
      "ERR_TLS_CERT_ALTNAME_INVALID",
    ]) {
      const reason = classifyFailure(createError(code));
      expect([code, reason]).toEqual([code, expect.any(TargetFailure)]);
      expect(reason?.message).toMatch(/^[A-Z][^_]*\.$/);
      expect(reason?.message).not.toContain("secret");
    }
  });

  test("for lack of resources, this machine is at fault", () => {
    for (const code of ["EMFILE", "ENFILE", "ENOMEM", "ENOBUFS", "EADDRNOTAVAIL", "EAGAIN"])
      expect([code, classifyFailure(createError(code))]).toEqual([code, expect.any(LocalFailure)]);
  });

  test("in the program, there is no reason, for any code", () => {
    for (const error of [
      new Error("secret"),
      new TypeError("secret"),
      createError("ERR_INVALID_ARG_TYPE"),
      createError("ERR_INVALID_URL"),
      createError("ABORT_ERR"),
      createError("constructor"),
      createError("__proto__"),
      createError(""),
      "text",
      undefined,
      null,
    ])
      expect([String(error), classifyFailure(error)]).toEqual([String(error), null]);
  });
});
