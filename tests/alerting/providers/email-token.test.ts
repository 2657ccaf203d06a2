import { describe, expect, test } from "bun:test";
import { generateKeyPairSync, verify } from "node:crypto";
import type { DeliveryContext } from "../../../src/alerting/provider.ts";
import type { SmtpSettings } from "../../../src/accounts/settings/schema.ts";
import { now, startReceiver, retryVerdict } from "../../support/alert-receiver.ts";
import { startMailServer } from "../../support/mail-server.ts";
import { createDoubtfulVerdict } from "../../support/alert-receiver.ts";
import { ann, delivered, createPassingVerdict, findOutcome } from "../../support/mail-outcomes.ts";
import { replyWith, type Reply } from "../../support/target.ts";

const box = "box@team.example";
const secret = "CANARY-7f3a";
const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
const serviceAccount = {
  type: "service_account",
  client_email: "signalbox@project.iam.gserviceaccount.com",
  private_key_id: "key-1",
  private_key: privateKey.export({ type: "pkcs8", format: "pem" }) as string,
};

const microsoft: Partial<SmtpSettings> = {
  user: box,
  auth: "microsoft",
  tenant: "team.onmicrosoft.com",
  clientId: "9f3a",
  clientSecret: secret,
};
const google: Partial<SmtpSettings> = {
  user: box,
  auth: "google",
  serviceAccountKey: JSON.stringify(serviceAccount),
};

const buildToken = (text: string, seconds: unknown = 3_599): Reply =>
  replyWith(200, JSON.stringify({ token_type: "Bearer", expires_in: seconds, access_token: text }));

/**
 * A mail server that accepts this token of the mailbox, and a token endpoint that replaces all
 * services.
 */
async function createTokenWorld(taken: string, endpoint: Reply) {
  const users: Record<string, string> = { [box]: taken };
  const server = await startMailServer(
    { users },
    { authMethods: ["XOAUTH2"], allowInsecureAuth: true },
  );
  const to = await startReceiver(endpoint);
  const { exchange, accessTokens } = to.context;
  return {
    ...to,
    server,
    users,
    send: (smtp: Partial<SmtpSettings>, changes: Partial<DeliveryContext> = {}) =>
      findOutcome(server.smtp(smtp), [ann], { exchange, accessTokens, ...changes }),
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await to[Symbol.asyncDispose]();
    },
  };
}

describe("a mail for a mailbox of Microsoft 365", () => {
  test("is sent with the token that the app gets with its secret", async () => {
    await using result = await createTokenWorld("tok-1", buildToken("tok-1"));
    expect(await result.send(microsoft)).toEqual(delivered);
    expect(result.urls).toEqual([
      "https://login.microsoftonline.com/team.onmicrosoft.com/oauth2/v2.0/token",
    ]);
    const { method, headers, body } = result.lastRequest();
    expect([method, headers["content-type"]]).toEqual([
      "POST",
      "application/x-www-form-urlencoded",
    ]);
    expect(Object.fromEntries(new URLSearchParams(body))).toEqual({
      grant_type: "client_credentials",
      client_id: "9f3a",
      client_secret: secret,
      scope: "https://outlook.office365.com/.default",
    });
    expect(result.server.getOnlyMail()).toMatchObject({ user: box, to: [ann] });
  });

  test.each([
    [
      7000215,
      "Microsoft reports that the client secret is not valid; enter the secret's value, not its ID.",
    ],
    [7000222, "Microsoft reports that the client secret has expired."],
    [700016, "Microsoft reports that the tenant has no app with this client ID."],
    [90002, "Microsoft reports that there is no such tenant."],
    [1, "Microsoft issues no access token to this app; check its tenant, client ID and secret."],
  ])("is not sent if the app gets no token: %d", async (code, reason) => {
    const gossip = { error: "invalid_client", error_description: "gossip", error_codes: [code] };
    await using result = await createTokenWorld("tok-1", replyWith(401, JSON.stringify(gossip)));
    expect(await result.send(microsoft)).toEqual(createDoubtfulVerdict(reason));
    expect(result.server.connections()).toBe(0);
  });
});

describe("a mail for a mailbox of Google Workspace", () => {
  test("is sent with the token that the service account gets for its user", async () => {
    await using result = await createTokenWorld("ya29.tok", buildToken("ya29.tok"));
    expect(await result.send(google)).toEqual(delivered);
    expect(result.urls).toEqual(["https://oauth2.googleapis.com/token"]);
    const form = new URLSearchParams(result.lastRequest().body);
    expect(form.get("grant_type")).toBe("urn:ietf:params:oauth:grant-type:jwt-bearer");
    const [header = "", claims = "", signature = ""] = (form.get("assertion") ?? "").split(".");
    const read = (part: string) => JSON.parse(Buffer.from(part, "base64url").toString());
    expect(read(header)).toEqual({ alg: "RS256", typ: "JWT", kid: "key-1" });
    expect(read(claims)).toEqual({
      iss: serviceAccount.client_email,
      sub: box,
      scope: "https://mail.google.com/",
      aud: "https://oauth2.googleapis.com/token",
      iat: Math.floor(now / 1_000),
      exp: Math.floor(now / 1_000) + 3_600,
    });
    const signed = Buffer.from(`${header}.${claims}`);
    expect(verify("RSA-SHA256", signed, publicKey, Buffer.from(signature, "base64url"))).toBe(true);
    expect(result.server.getOnlyMail()).toMatchObject({ user: box });
  });

  test.each([
    [
      401,
      "unauthorized_client",
      "Google reports that the service account may not act for this user: the domain has to delegate https://mail.google.com/ to it.",
    ],
    [
      400,
      "invalid_grant",
      "Google reports that the key was deleted, that there is no such user, or that this machine's clock is wrong.",
    ],
    [400, "gossip", "Google issues no access token to this service account."],
  ])("is not sent if the account gets no token: %d %s", async (status, error, reason) => {
    await using result = await createTokenWorld(
      "tok",
      replyWith(status, JSON.stringify({ error })),
    );
    expect(await result.send(google)).toEqual(createDoubtfulVerdict(reason));
    expect(result.server.connections()).toBe(0);
  });

  test("is not sent with an invalid key", async () => {
    await using result = await createTokenWorld("tok", buildToken("tok"));
    const broken = { ...serviceAccount, private_key: "-----BEGIN PRIVATE KEY-----\nAAAA" };
    expect(await result.send({ ...google, serviceAccountKey: JSON.stringify(broken) })).toEqual(
      createDoubtfulVerdict("The private key of the service account can't be read."),
    );
    expect(result.asked).toEqual([]);
  });
});

describe("a token", () => {
  test("is cached until a minute before it expires", async () => {
    await using result = await createTokenWorld("tok", buildToken("tok", 3_600));
    for (const [seconds, asked] of [
      [0, 1],
      [3_539, 1],
      [3_540, 2],
      [3_600, 2],
    ] as const) {
      expect(await result.send(microsoft, { now: now + seconds * 1_000 })).toEqual(delivered);
      expect([seconds, result.asked.length]).toEqual([seconds, asked]);
    }
  });

  test("is requested once for all waiting mails", async () => {
    await using result = await createTokenWorld("tok", buildToken("tok"));
    const outcomes = await Promise.all([1, 2, 3, 4, 5].map(() => result.send(microsoft)));
    expect(outcomes).toEqual(Array(5).fill(delivered));
    expect(result.asked).toHaveLength(1);
    expect(result.server.mails).toHaveLength(5);
  });

  test("is only for its credentials and its user", async () => {
    await using result = await createTokenWorld("tok", buildToken("tok"));
    result.users["other@team.example"] = "tok";
    const others = [
      { user: "other@team.example" },
      { clientSecret: "another" },
      { tenant: "other.example" },
      { clientId: "another" },
      google,
    ];
    for (const change of [{}, ...others]) await result.send({ ...microsoft, ...change });
    expect(result.asked).toHaveLength(1 + others.length);
    expect(result.server.mails).toHaveLength(1 + others.length);
  });

  test.each([0, -1, "soon", null])("that expires in %p seconds is not cached", async (seconds) => {
    await using result = await createTokenWorld("tok", buildToken("tok", seconds));
    for (const _ of [1, 2]) expect(await result.send(microsoft)).toEqual(delivered);
    expect(result.asked).toHaveLength(2);
  });

  test("that the mail server rejects is requested again the next time", async () => {
    await using result = await createTokenWorld("tok-2", buildToken("tok-1"));
    expect(await result.send(microsoft)).toEqual(
      createDoubtfulVerdict(
        "The mail server rejected the access token: the mailbox needs SMTP AUTH, and the app SMTP.SendAsApp and full access to it.",
      ),
    );
    result.setReply(buildToken("tok-2"));
    expect(await result.send(microsoft)).toEqual(delivered);
    expect(result.asked).toHaveLength(2);
  });

  test("is requested again after a temporary error", async () => {
    await using result = await createTokenWorld("tok", replyWith(503, "gossip"));
    expect(await result.send(microsoft)).toEqual(
      createPassingVerdict(
        "No access token was given: the service responded with HTTP 503 (Service Unavailable).",
      ),
    );
    result.setReply(replyWith(200, "<title>Sign in</title>"));
    expect(await result.send(microsoft)).toEqual(
      createPassingVerdict("No access token was given: the service responded with HTTP 200 (OK)."),
    );
    result.setReply(buildToken("tok"));
    expect(await result.send(microsoft)).toEqual(delivered);
  });

  test("is requested again when the service allows it", async () => {
    await using result = await createTokenWorld(
      "tok",
      replyWith(429, "gossip", { "retry-after": "17" }),
    );
    expect(await result.send(microsoft)).toEqual(
      retryVerdict(
        "No access token was given: the service responded with HTTP 429 (Too Many Requests).",
        17,
      ),
    );
  });

  test("with characters that could inject an SMTP command is rejected", async () => {
    for (const odd of ["tok\r\nRSET", "", "to k", "ü", 7]) {
      await using result = await createTokenWorld("tok", buildToken(odd as string));
      expect(await result.send(microsoft)).toEqual(
        createPassingVerdict(
          "No access token was given: the service responded with HTTP 200 (OK).",
        ),
      );
      expect(result.server.connections()).toBe(0);
    }
  });

  test("is not sent to a server without token authentication", async () => {
    await using plain = await startMailServer(
      { users: { [box]: "tok" } },
      { allowInsecureAuth: true },
    );
    await using to = await startReceiver(buildToken("tok"));
    const outcome = await findOutcome(plain.smtp(microsoft), [ann], {
      exchange: to.context.exchange,
    });
    expect(plain.mails).toEqual([]);
    expect(outcome).toMatchObject({ outcome: "failed" });
  });
});
