import { expect, test } from "bun:test";
import { X509Certificate } from "node:crypto";
import { pemSchema, normalizePem } from "../../src/core/security/pem.ts";
import { clientCertificate, clientKey } from "../support/samples.ts";

const certificates = pemSchema("CERTIFICATE", 65_536);
const keys = pemSchema("PRIVATE KEY");
const indentLines = (text: string, by: string) => text.replaceAll(/^/gm, by);
const replaceLabel = (label: string) => clientCertificate.replaceAll("CERTIFICATE", label);

test("a certificate is read with any text before it and any line breaks", () => {
  const bag = "Bag Attributes\n    friendlyName: probe\nsubject=CN = probe\n\n";
  const spellings = [
    clientCertificate,
    `${bag}${clientCertificate}`,
    indentLines(clientCertificate, "    "),
    indentLines(clientCertificate, "\t"),
    clientCertificate.replaceAll("\n", "\r\n"),
    clientCertificate.replaceAll("\n", " "),
    replaceLabel("X509 CERTIFICATE"),
  ];
  for (const text of spellings) expect(certificates.parse(text)).toBe(clientCertificate);
  const two = `${bag}${clientCertificate}${bag}${indentLines(clientCertificate, "  ")}`;
  expect(certificates.parse(two)).toBe(clientCertificate.repeat(2));
  expect(new X509Certificate(normalizePem(indentLines(clientCertificate, "   "))).subject).toBe(
    "CN=probe",
  );
  expect(normalizePem("no blocks")).toBe("no blocks");
});

test("an invalid certificate is rejected by name, without showing its content", () => {
  const inPem = "must be a certificate in PEM";
  const cases: [string, string][] = [
    ["", inPem],
    ["words", inPem],
    [clientKey, inPem],
    [`${clientCertificate}rest`, inPem],
    [clientCertificate.slice(0, -20), inPem],
    [clientCertificate.replace("MIIB", "MI-B"), inPem],
    [clientCertificate.replace("MIIB", "MI*B"), inPem],
    [`${clientCertificate}-----BEGIN CERTIFICATE-----\nMIIB`, inPem],
    [
      replaceLabel("TRUSTED CERTIFICATE"),
      "must have the label CERTIFICATE, not TRUSTED CERTIFICATE: `openssl x509 -in FILE` converts it",
    ],
    [replaceLabel("CERTIFICATE REQUEST"), inPem],
    [`${clientCertificate}${clientKey}`, "must be a certificate alone: it contains a private key"],
  ];
  for (const [text, message] of cases)
    expect(certificates.safeParse(text).error?.issues.map((issue) => issue.message)).toEqual([
      message,
    ]);
});

test("a private key is read with the attributes and parameters that tools write before it", () => {
  const parameters =
    "-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n";
  for (const before of ["", "Bag Attributes\n    localKeyID: 01\n", parameters])
    expect(keys.parse(`${before}${clientKey}`)).toBe(clientKey);
  expect(keys.safeParse(clientCertificate).success).toBe(false);
});

test("a file with a damaged block is left unchanged, so that it is rejected as a whole", () => {
  const whole = "-----BEGIN CERTIFICATE-----\nQUJD\n-----END CERTIFICATE-----\n";
  for (const text of [
    `${whole}-----BEGIN CERTIFICATE-----\nQUJD`,
    `${whole}-----BEGIN CERTIFICATE-----\n?!\n-----END CERTIFICATE-----\n`,
    "no block",
  ])
    expect(normalizePem(text)).toBe(text);
  expect(normalizePem(`Bag Attributes\n  name: x\n${whole}`)).toBe(whole);
});
