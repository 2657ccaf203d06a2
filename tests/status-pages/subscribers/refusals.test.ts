import { describe, expect, test } from "bun:test";
import { dumpTables, unknownId } from "../../support/appliance.ts";
import { signingCanary } from "../../support/samples.ts";
import { ann, bob, createPublisher } from "../../support/publisher.ts";

const webhook = { type: "webhook", url: "https://hooks.team.example/status" };

describe.concurrent("a subscriber that is rejected", () => {
  const mail = { type: "email", email: ann };
  const wrong: [what: string, body: unknown, path: string][] = [
    ["no type", {}, "type"],
    ["an unknown type", { type: "sms", number: "1" }, "type"],
    ["no address", { type: "email" }, "email"],
    ["null for an address", { type: "email", email: null }, "email"],
    ["an invalid address", { type: "email", email: "ann" }, "email"],
    ["a header", { type: "email", email: `${ann}\r\nBcc: ${bob}` }, "email"],
    ["two addresses", { type: "email", email: `${ann},${bob}` }, "email"],
    ["an endless address", { type: "email", email: `${"a".repeat(255)}@x.example` }, "email"],
    ["an invalid confirmation", { ...mail, confirmed: "yes" }, "confirmed"],
    ["a mailbox with a URL", { ...mail, url: webhook.url }, "url"],
    ["a mailbox with a secret", { ...mail, secret: "x" }, "secret"],
    ["an unknown field", { ...mail, name: "Ann" }, "name"],
    ["no URL", { type: "webhook" }, "url"],
    ["a URL of another kind", { type: "webhook", url: "ftp://x.example/" }, "url"],
    ["a URL with credentials", { type: "webhook", url: "https://a:b@x.example/" }, "url"],
    ["a URL with a line break", { type: "webhook", url: "https://x.example/\r\nX: y" }, "url"],
    ["an endless URL", { type: "webhook", url: `https://x.example/${"a".repeat(2048)}` }, "url"],
    ["a webhook with an address", { ...webhook, email: ann }, "email"],
    ["an unconfirmed webhook", { ...webhook, confirmed: false }, "confirmed"],
    ["a blank secret", { ...webhook, secret: " " }, "secret"],
    ["a secret of two lines", { ...webhook, secret: "a\nb" }, "secret"],
    ["a secret that is not Base64", { ...webhook, secret: "open sesame" }, "secret"],
    ["a secret that is too short", { ...webhook, secret: "whsec_b3BlbiBzZXNhbWU=" }, "secret"],
    ["an endless secret", { ...webhook, secret: "x".repeat(1_001) }, "secret"],
    ["a blocked address", { type: "webhook", url: "http://169.254.169.254/" }, "url"],
    ["a blocked address in hexadecimal", { type: "webhook", url: "http://0xa9fea9fe/" }, "url"],
    ["our own listener", { type: "webhook", url: "http://127.0.0.1:3210/" }, "url"],
  ];
  for (const [what, body, field] of wrong)
    test(`is rejected with its field: ${what}`, async () => {
      // Denies loopback addresses, so that our own listener is rejected as a target.
      await using publisher = await createPublisher({}, { allowTarget: [] });
      const before = dumpTables(publisher);
      const { status, json } = await publisher.api("POST", publisher.path, { body });
      expect(json.error.details).toMatchObject([{ path: field }]);
      expect([status, json.error.code]).toEqual([422, "VALIDATION_ERROR"]);
      expect(dumpTables(publisher)).toBe(before);
    });

  test("is a body that is not an object", async () => {
    await using publisher = await createPublisher();
    for (const body of [[], "x", 1, null])
      expect((await publisher.api("POST", publisher.path, { body })).status).toBe(422);
    expect((await publisher.api("POST", publisher.path, { raw: "{" })).status).toBe(400);
    expect((await publisher.api("POST", publisher.path)).status).toBe(415);
    expect(await publisher.subscribers()).toEqual([]);
  });

  test("is an address twice on one page, pending or not, in any case", async () => {
    await using publisher = await createPublisher();
    await publisher.added({ type: "email", email: ann });
    await publisher.mailbox(bob);
    await publisher.added(webhook);
    const before = dumpTables(publisher);
    for (const [field, body] of [
      ["email", { type: "email", email: ann }],
      ["email", { type: "email", email: ann.toUpperCase(), confirmed: true }],
      ["email", { type: "email", email: bob }],
      ["url", { ...webhook, secret: signingCanary }],
    ] as const) {
      const { status, json } = await publisher.api("POST", publisher.path, { body });
      expect([status, json.error.code, json.error.details[0].path]).toEqual([
        409,
        "CONFLICT",
        field,
      ]);
    }
    expect(dumpTables(publisher)).toBe(before);
  });

  test("is one address twice at once", async () => {
    await using publisher = await createPublisher();
    const add = () => publisher.api("POST", publisher.path, { body: webhook });
    const responses = await Promise.all([add(), add(), add()]);
    expect(responses.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([
      201, 409, 409,
    ]);
    expect(await publisher.subscribers()).toHaveLength(1);
  });

  test("is an unconfirmed mailbox while there is no mail server", async () => {
    await using publisher = await createPublisher();
    await publisher.useMail(null);
    const before = dumpTables(publisher);
    const { status, json } = await publisher.api("POST", publisher.path, { body: mail });
    expect([status, json.error.code]).toEqual([409, "CONFLICT"]);
    expect(dumpTables(publisher)).toBe(before);
    await publisher.mailbox();
    await publisher.added(webhook);
    expect(await publisher.subscribers()).toHaveLength(2);
  });

  test("is anything on an unknown page, or with a read key", async () => {
    await using publisher = await createPublisher();
    const before = dumpTables(publisher);
    const at = (id: string) => `/api/v1/status-pages/${id}/subscribers`;
    for (const id of [unknownId, "nonsense"])
      expect((await publisher.api("POST", at(id), { body: webhook })).status).toBe(404);
    expect((await publisher.ours.reader("POST", publisher.path, { body: webhook })).status).toBe(
      403,
    );
    expect((await publisher.stranger("POST", publisher.path, { body: webhook })).status).toBe(401);
    expect(dumpTables(publisher)).toBe(before);
  });
});
