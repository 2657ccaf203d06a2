/** Messages of Amazon SNS: signatures, subscriptions, and addresses that are not Amazon's. */
import { expect, test } from "bun:test";
import { createSign, generateKeyPairSync } from "node:crypto";
import { findSnsOrigin } from "../../../src/alerting/channels/kinds/programs-schema.ts";
import { createSnsVerifier } from "../../../src/alerting/sources/aws-sns.ts";
import { AppError } from "../../../src/core/errors.ts";
import { LocalFailure, TargetFailure } from "../../../src/core/outgoing/failures.ts";
import type { Exchange } from "../../../src/core/outgoing/http/exchange.ts";
import { createTargetGuard } from "../../../src/core/security/target-guard.ts";
import { createKeyOwner, exportKey, issueCertificate } from "../../support/certificate-builder.ts";

const host = "https://sns.eu-central-1.amazonaws.com";

function sign(message: Record<string, string>, key: string, version = "2") {
  const names =
    message["Type"] === "Notification"
      ? ["Message", "MessageId", "Subject", "Timestamp", "TopicArn", "Type"]
      : ["Message", "MessageId", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type"];
  const text = names
    .filter((name) => message[name] !== undefined)
    .map((name) => `${name}\n${message[name]}\n`)
    .join("");
  const algorithm = version === "2" ? "RSA-SHA256" : "RSA-SHA1";
  return {
    ...message,
    SignatureVersion: version,
    Signature: createSign(algorithm).update(text).sign(key, "base64"),
    SigningCertURL: `${host}/SimpleNotificationService-1.pem`,
  };
}

const notification = {
  Type: "Notification",
  MessageId: "22b80b92-fdea-4c2c-8f9d-bdfb0c7bf324",
  TopicArn: "arn:aws:sns:eu-central-1:123456789012:alarms",
  Subject: "ALARM",
  Message: "{}",
  Timestamp: "2026-11-20T23:02:00.000Z",
};
const { Subject: _subject, ...withoutSubject } = notification;
const confirmation = {
  ...withoutSubject,
  Type: "SubscriptionConfirmation",
  Token: "2336412f37fb687f5d51e6e2425c464de12884b25f",
  SubscribeURL: `${host}/?Action=ConfirmSubscription&Token=2336412f`,
};

function createAmazon() {
  const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const amazon = { name: "sns.amazonaws.com", key: privateKey, publicKey };
  const cert = issueCertificate(amazon, createKeyOwner("Authority"));
  const key = exportKey(amazon);
  const requested: string[] = [];
  const exchange: Exchange = async ({ url, verifyTls }) => {
    expect(verifyTls).toBe(true);
    requested.push(url.href);
    return { status: 200, headers: new Map(), body: url.pathname.endsWith(".pem") ? cert : "" };
  };
  const targets = createTargetGuard(() => []);
  return { key, requested, targets, verify: createSnsVerifier({ targets, exchange }) };
}

const findRejectedField = async (pending: Promise<unknown>) => {
  const error = await pending.catch((thrown: unknown) => thrown);
  return error instanceof AppError ? (error.details?.[0]?.path ?? error.code) : error;
};

test("a signed message is accepted, in both versions and without a subject, and the certificate is fetched once", async () => {
  const { key, verify, requested } = createAmazon();
  for (const message of [notification, withoutSubject])
    for (const version of ["1", "2"]) expect(await verify(sign(message, key, version))).toBeNull();
  expect(requested).toEqual([`${host}/SimpleNotificationService-1.pem`]);
});

test.each([
  ["aws-us-gov:sns:us-gov-west-1", "sns.us-gov-west-1.amazonaws.com"],
  ["aws-cn:sns:cn-north-1", "sns.cn-north-1.amazonaws.com.cn"],
  ["aws-eusc:sns:eusc-de-east-1", "sns.eusc-de-east-1.amazonaws.eu"],
])("topics of arn:%s are at %s, and its certificates are accepted", async (topic, name) => {
  const { key, verify, requested } = createAmazon();
  expect(findSnsOrigin(`arn:${topic}:123456789012:alerts`)).toBe(`https://${name}`);
  const SigningCertURL = `https://${name}/SimpleNotificationService-1.pem`;
  expect(await verify({ ...sign(notification, key), SigningCertURL })).toBeNull();
  expect(requested).toEqual([SigningCertURL]);
});

test("a changed, unsigned or raw message is rejected", async () => {
  const { key, verify } = createAmazon();
  const signed = sign(notification, key);
  expect(await findRejectedField(verify({ ...signed, Message: "{ }" }))).toBe("Signature");
  expect(await findRejectedField(verify({ ...signed, Signature: "" }))).toBe("Signature");
  expect(await findRejectedField(verify({ ...signed, SignatureVersion: "1" }))).toBe("Signature");
  for (const version of ["3", ""])
    expect(await findRejectedField(verify(sign(notification, key, version)))).toBe(
      "SignatureVersion",
    );
  expect(await findRejectedField(verify({ AlarmName: "HighCPU" }))).toBe("Type");
});

test("a subscription is confirmed, only after its signature and only at Amazon", async () => {
  const { key, verify, requested } = createAmazon();
  expect(await verify(sign(confirmation, key))).toBe(
    "Confirmed the subscription to arn:aws:sns:eu-central-1:123456789012:alarms.",
  );
  expect(requested.at(-1)).toBe(confirmation.SubscribeURL);
  const before = requested.length;
  for (const SubscribeURL of [
    "https://example.com/",
    "http://sns.eu-central-1.amazonaws.com/",
    "https://bucket.s3.amazonaws.com/",
    "https://sns.eu-central-1.amazonaws.com.example.com/",
    "https://sns.eu-central-1.amazonaws.com:8443/",
    "https://user@sns.eu-central-1.amazonaws.com.evil.example/",
  ])
    expect(await findRejectedField(verify(sign({ ...confirmation, SubscribeURL }, key)))).toBe(
      "SubscribeURL",
    );
  const forged = { ...sign(confirmation, key), Token: "other" };
  expect(await findRejectedField(verify(forged))).toBe("Signature");
  for (const SigningCertURL of [
    "https://example.com/c.pem",
    `${host}/?Action=ListTopics&X=/c.pem`,
    `${host}/c.pem?Action=ListTopics`,
    `${host}/c.txt`,
    "https://sns.eu-central-1.amazonaws.com.eu/c.pem",
    "https://sns.eusc-de-east-1.amazonaws.eu.example.com/c.pem",
  ]) {
    const elsewhere = { ...sign(notification, key), SigningCertURL };
    expect(await findRejectedField(verify(elsewhere))).toBe("SigningCertURL");
  }
  expect(requested.length).toBe(before);
});

test("a message is repeated later if Amazon can't be reached", async () => {
  const { key, targets } = createAmazon();
  for (const failure of [new TargetFailure("No route."), new LocalFailure("no name server")]) {
    const verify = createSnsVerifier({ targets, exchange: () => Promise.reject(failure) });
    expect(await findRejectedField(verify(sign(notification, key)))).toBe("UNAVAILABLE");
  }
});
