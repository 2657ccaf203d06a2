/** A stored secret is never sent to a changed address, for each type with secrets. */
import { describe, expect, test } from "bun:test";
import { generateKeyPairSync } from "node:crypto";
import { z } from "zod";
import { channelKinds } from "../src/alerting/channels/kinds-schema.ts";
import { splitSecrets } from "../src/core/security/kind-secrets.ts";
import type { Kinds } from "../src/core/kinds.ts";
import { monitorKinds } from "../src/monitoring/monitors/kinds-schema.ts";
import { settingsKinds } from "../src/accounts/settings/schema.ts";
import { providerKinds } from "../src/accounts/identity-providers/schema.ts";
import { publishingKinds } from "../src/status-pages/publishing/schema.ts";
import { backupKinds } from "../src/operations/backups/schedule-schema.ts";
import { subscriberKinds, SubscriberPatch } from "../src/status-pages/subscribers/schema.ts";
import { createStoredSecrets } from "../web/components/forms/stored-secrets.ts";
import { dumpTables, testAppliance } from "./support/appliance.ts";
import { crawlRoutes, readRoutes } from "./support/crawler.ts";
import { startMailServer } from "./support/mail-server.ts";
import { canary, clientKey, newMonitors, signingCanary } from "./support/samples.ts";
import { listChannelHomes, buildHttpHome, listHttpHomes } from "./support/secret-homes.ts";
import { replyWith, startTarget } from "./support/target.ts";
import { signInMember } from "./support/people.ts";
import type { Json } from "./support/json.ts";

type Own = Record<string, unknown>;
type JsonSchema = {
  writeOnly?: boolean;
  properties?: Record<string, JsonSchema>;
  items?: JsonSchema;
  additionalProperties?: unknown;
  anyOf?: JsonSchema[];
  enum?: unknown[];
  $ref?: string;
  $defs?: Record<string, JsonSchema>;
};

/** The JSON schema of a field with inlined definitions. */
function jsonOf(field: z.ZodType): JsonSchema {
  const whole = z.toJSONSchema(field, { io: "input", unrepresentable: "any" }) as JsonSchema;
  const resolveReference = (json: JsonSchema): JsonSchema => ({
    ...json,
    ...whole.$defs?.[json.$ref?.split("/").pop() ?? ""],
  });
  return { ...resolveReference(whole), anyOf: (whole.anyOf ?? []).map(resolveReference) };
}

const optionsOf = (field: JsonSchema): JsonSchema[] => [
  field,
  ...(field.anyOf ?? []).flatMap(optionsOf),
];

/** Paths of write-only fields, and of objects with free names. */
function secretsOf(field: JsonSchema, path: string): string[] {
  return optionsOf(field).flatMap(({ writeOnly, properties = {}, additionalProperties, items }) => [
    ...(writeOnly === true ? [path] : []),
    ...(items === undefined ? [] : secretsOf(items, `${path}[]`)),
    ...(typeof additionalProperties === "object" ? [`${path}.*`] : []),
    ...Object.entries(properties).flatMap(([name, inner]) => secretsOf(inner, `${path}.${name}`)),
  ]);
}

const everyKinds: Record<string, Kinds> = {
  monitors: monitorKinds,
  "alert-channels": channelKinds,
  settings: settingsKinds,
  subscribers: subscriberKinds,
  backups: backupKinds,
  "status-page-publishing": publishingKinds,
  "identity-providers": providerKinds,
};
const everyType = Object.entries(everyKinds).flatMap(([noun, kinds]) =>
  Object.entries(kinds).map(([type, kind]) => ({ noun, type, kind })),
);

describe("each type declares where its secrets go", () => {
  test.each(everyType)("$noun: $type", ({ kind: { fields, secrets } }) => {
    const found = Object.entries(fields).flatMap(([name, field]) => secretsOf(jsonOf(field), name));
    expect([...new Set(found)].toSorted()).toEqual(Object.keys(secrets).toSorted());
    const decisive = Object.values(secrets).flatMap((destination) => Object.keys(destination));
    expect(decisive.filter((name) => !(name in fields))).toEqual([]);
  });

  test("and the address and the secret of a subscriber can't be changed", () => {
    for (const field of ["email", "url", "webhookUrl", "secret"])
      expect(SubscriberPatch.safeParse({ [field]: "x" }).success).toBe(false);
  });
});

test("no secret of any type is in a response, a row, a metric or the log", async () => {
  const appliance = await testAppliance({
    exchange: async () => ({ status: 500, headers: new Map(), body: canary }),
  });
  await using site = await startTarget();
  const { api } = appliance.ours;
  const ids: Record<string, string> = {};
  const make = async (noun: string, body: object) => {
    const { status, json, text } = await api("POST", `/api/v1/${noun}`, { body });
    expect([body, status, text.includes(canary)]).toEqual([body, 201, false]);
    return (ids[noun] = json.data.id as string);
  };
  const channels = Object.keys(channelKinds).flatMap((type) =>
    listChannelHomes(type).map((home) => ({ type, home })),
  );
  for (const { type, home } of channels) {
    const id = await make("alert-channels", { type, name: "On-call", ...home });
    appliance.time.now += 60_000;
    const { text } = await api("POST", `/api/v1/alert-channels/${id}/test`);
    expect([type, text.includes(canary)]).toEqual([type, false]);
  }
  const monitor = { type: "http", name: "Shop", ...buildHttpHome(site.at()) };
  const shop = await make("monitors", monitor);
  expect((await api("POST", `/api/v1/monitors/${shop}/check`)).text).not.toContain(canary);
  const smtp = { host: "mail.lan", from: "a@team.example", password: canary };
  await api("PATCH", "/api/v1/settings", { body: { smtp } });
  const [page] = (await api("GET", "/api/v1/status-pages")).json.data;
  ids["status-pages"] = page.id;
  const subscriber = { type: "webhook", url: "http://bot.lan", secret: signingCanary };
  await make(`status-pages/${page.id}/subscribers`, subscriber);

  // Failed writes are logged with their cause.
  appliance.database.run("PRAGMA query_only = ON");
  const refused = [
    ...channels.map(
      ({ type, home }) => ["alert-channels", { type, name: "Late", ...home }] as const,
    ),
    ["monitors", { ...monitor, name: "Late" }] as const,
    [`status-pages/${page.id}/subscribers`, { ...subscriber, url: "http://late.lan" }] as const,
  ];
  for (const [noun, body] of refused)
    expect([body, (await api("POST", `/api/v1/${noun}`, { body })).status]).toEqual([body, 503]);
  appliance.database.run("PRAGMA query_only = OFF");
  const causes = appliance.logged.filter((line) => line.includes("request failed"));
  expect(causes.length).toBeGreaterThanOrEqual(refused.length);

  const owner = (await signInMember(appliance, "owner")).page;
  const responses = [
    ...(await crawlRoutes(readRoutes.api, ids, api)),
    ...(await crawlRoutes(readRoutes.dashboard, ids, owner)),
    { path: "/metrics", ...(await api("GET", "/metrics")) },
  ];
  expect(responses.filter(({ status }) => status === 200).length).toBeGreaterThan(80);
  const telling = responses.filter(({ text }) => isSecret(text)).map(({ path }) => path);
  expect([...new Set(telling)]).toEqual([]);
  expect(isSecret(dumpTables(appliance) + appliance.logged.join("\n"))).toBe(false);
  expect(appliance.database.serialize().includes(canary)).toBe(false);
});

/** A record with every secret of its type, and ways to send them. */
type Snapshot = AsyncDisposable & {
  kinds: Kinds;
  /** The type's fields, secrets included, with the owner's address. */
  home: Own;
  /** Whether a changed object is sent completely, without its secrets. */
  sendsWhole?: boolean;
  /** Values with another address, for any field that accepts them. */
  elsewhere: readonly unknown[];
  change: (body: Own) => Promise<{ status: number; json: Json }>;
  /** The record as the admin page reads it. */
  read: () => Promise<{ json: Json }>;
  /** Sends the stored values. */
  use: () => Promise<unknown>;
  /** Sends the values with the change applied, if the product can do that. */
  tryOut?: (body: Own) => Promise<unknown>;
  /** Bytes that arrived at other addresses; they must not contain a secret. */
  astray: () => string[];
  /** Whether a secret arrived at the owner's address; otherwise the test would prove nothing. */
  isSentHome: () => boolean;
};

/** The access token for a monitor's client secret. */
const accessToken = "TOKEN-OF-CANARY";

/** Detects a secret: in plain text, in a Base64 login, or as a signature. */
const marks = [
  canary,
  signingCanary,
  ...["probe", "bot@zulip.example", "api"].map((user) =>
    Buffer.from(`${user}:${canary}`).toString("base64"),
  ),
  accessToken,
  "webhook-signature",
  clientKey.split("\n")[1] ?? "",
];
const isSecret = (text: string) => marks.some((mark) => text.includes(mark));

const at = (noun: string) => `/api/v1/${noun}`;

async function createMonitorWorld(type: string, variant: number): Promise<Snapshot> {
  const [near, far] = [await startTarget(), await startTarget()];
  near.setReply(
    replyWith(200, JSON.stringify({ access_token: accessToken, expires_in: 0 })),
    "/token",
  );
  const appliance = await testAppliance();
  const { page } = await signInMember(appliance, "member");
  const home: Own = {
    ...newMonitors[type as keyof typeof newMonitors],
    ...(type === "http" && listHttpHomes(near.at("/health"))[variant]),
  };
  const { api } = appliance.ours;
  const { json } = await api("POST", at("monitors"), { body: { type, name: "Shop", ...home } });
  const path = `${at("monitors")}/${json.data.id}`;
  return {
    kinds: monitorKinds,
    home,
    sendsWhole: true,
    elsewhere: [
      far.at("/health"),
      far.at("/"),
      near.at("/health").replace("http:", "https:"),
      far.port,
      ...["/step", far.at("/step")].map((url) => [{ url, headers: { "X-Key": "{{token}}" } }]),
    ],
    change: (body) => api("PATCH", path, { body }),
    read: () => api("GET", path),
    use: () => api("POST", `${path}/check`),
    tryOut: (body) => page("POST", `/dashboard/monitors/${json.data.id}/try`, { body }),
    astray: () => far.asked.map((request) => JSON.stringify(request)),
    isSentHome: () => near.asked.some((request) => isSecret(JSON.stringify(request))),
    async [Symbol.asyncDispose]() {
      await near[Symbol.asyncDispose]();
      await far[Symbol.asyncDispose]();
    },
  };
}

/** A broker of MQTT that accepts everything, and records it. */
function startBroker() {
  const received: Buffer[] = [];
  const server = Bun.listen({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      data(socket, chunk) {
        received.push(chunk);
        const type = (chunk[0] ?? 0) >> 4;
        if (type === 1 && chunk[0] === 0x10) socket.write(Buffer.from([0x20, 2, 0, 0]));
        else if (type === 3) socket.write(Buffer.from([0x40, 2, 0, 1]));
        else socket.end();
      },
    },
  });
  const buildText = () => Buffer.concat(received).toString("latin1");
  return { port: server.port, buildText, [Symbol.dispose]: () => server.stop(true) };
}

/** A channel that sends over MQTT. */
async function createBrokerWorld(type: string, variant: number): Promise<Snapshot> {
  const [near, far] = [startBroker(), startBroker()];
  const broker = { host: "127.0.0.1", port: near.port };
  const world = await createChannelWorld(type, variant, broker);
  return {
    ...world,
    elsewhere: ["localhost", far.port],
    astray: () => [far.buildText()],
    isSentHome: () => isSecret(near.buildText()),
    async [Symbol.asyncDispose]() {
      near[Symbol.dispose]();
      far[Symbol.dispose]();
    },
  };
}

/** Types that send only a signature made with their secret. */
const onlySigning: ReadonlySet<string> = new Set(["nextcloudtalk", "sns"]);

async function createChannelWorld(
  type: string,
  variant: number,
  target: Own = {},
): Promise<Snapshot> {
  const sent: { origin: string; text: string }[] = [];
  const appliance = await testAppliance({
    exchange: async ({ url, headers, body }) => {
      sent.push({ origin: url.origin, text: JSON.stringify([url.href, headers, body]) });
      return { status: 200, headers: new Map(), body: "ok" };
    },
  });
  const home = { ...listChannelHomes(type)[variant], ...target };
  const { api } = appliance.ours;
  const body = { type, name: "On-call", ...home };
  const { json } = await api("POST", at("alert-channels"), { body });
  const { page } = await signInMember(appliance, "member");
  const path = `${at("alert-channels")}/${json.data.id}`;
  // Channel tests have a rate limit per minute.
  const passMinute = () => (appliance.time.now += 60_000);
  const use = () => {
    passMinute();
    return api("POST", `${path}/test`);
  };
  await use();
  const homes = new Set(sent.map(({ origin }) => origin));
  return {
    kinds: channelKinds,
    home,
    elsewhere: ["http://elsewhere.example/in", "https://elsewhere.example/in"],
    change: (change) => api("PATCH", path, { body: change }),
    read: () => api("GET", path),
    use,
    tryOut: (change) => {
      passMinute();
      return page("POST", `/dashboard/alert-channels/${json.data.id}/try`, { body: change });
    },
    astray: () => sent.filter(({ origin }) => !homes.has(origin)).map(({ text }) => text),
    isSentHome: () =>
      sent.some(
        ({ origin, text }) => homes.has(origin) && (onlySigning.has(type) || isSecret(text)),
      ),
    [Symbol.asyncDispose]: async () => {},
  };
}

/** Mail servers, each with another kind of secret. */
const smtpWays: Own[] = [
  { password: canary, tls: "none" },
  { auth: "microsoft", tenant: "team.example", clientId: "app", clientSecret: canary },
  {
    auth: "google",
    serviceAccountKey: JSON.stringify({
      type: "service_account",
      client_email: "signalbox@project.example",
      private_key_id: canary,
      private_key: generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey.export({
        type: "pkcs8",
        format: "pem",
      }),
    }),
  },
];

async function createSettingsWorld(_type: string, variant: number): Promise<Snapshot> {
  const users = { users: { probe: canary } };
  const [near, far] = [
    await startMailServer(users, { allowInsecureAuth: true }),
    await startMailServer(users, { allowInsecureAuth: true }),
  ];
  const tokens: string[] = [];
  const appliance = await testAppliance({
    exchange: async ({ url, body }) => {
      tokens.push(`${url.host} ${String(body)}`);
      return { status: 200, headers: new Map(), body: '{"access_token":"t","expires_in":0}' };
    },
  });
  const { page } = await signInMember(appliance, "admin");
  const home = { smtp: near.smtp({ user: "probe", tls: "starttls", ...smtpWays[variant] }) };
  const change = (body: Own) => appliance.ours.api("PATCH", at("settings"), { body });
  await change(home);
  const test = (body: Own) => {
    appliance.time.now += 60_000;
    return page("POST", "/dashboard/settings/test-mail", {
      body: { to: "ada@team.example", ...body },
    });
  };
  return {
    kinds: settingsKinds,
    home,
    elsewhere: ["localhost", far.smtp().port],
    change,
    read: () => appliance.ours.api("GET", at("settings")),
    use: () => test({}),
    tryOut: test,
    astray: () => Array.from({ length: far.connections() }, () => canary),
    isSentHome: () =>
      near.mails.some(({ user }) => user === "probe") ||
      tokens.some((one) => /^login\.microsoft.*CANARY|^oauth2\.google.*assertion=/.test(one)),
    async [Symbol.asyncDispose]() {
      await near[Symbol.asyncDispose]();
      await far[Symbol.asyncDispose]();
    },
  };
}

const worlds: Record<string, (type: string, variant: number) => Promise<Snapshot>> = {
  monitors: createMonitorWorld,
  "alert-channels": (type, variant) =>
    type === "mqtt" ? createBrokerWorld(type, variant) : createChannelWorld(type, variant),
  settings: createSettingsWorld,
};

const isPartOf = (value: unknown): value is Own =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Every valid change of one non-secret field, to any address. */
function listChanges(snapshot: Snapshot, type: string): Own[] {
  const { kinds, home, elsewhere, sendsWhole = false } = snapshot;
  const { fields = {}, secrets = {} } = kinds[type] ?? {};
  const settings = sendsWhole ? splitSecrets(kinds, type, home).settings : {};
  const always = [true, false, 1, 2525, "elsewhere.example", "127.0.0.2", null];
  const listCandidates = (json: JsonSchema) => [
    ...elsewhere,
    ...always,
    ...optionsOf(json).flatMap((option) => option.enum ?? []),
  ];
  return Object.entries(fields).flatMap(([name, field]) => {
    if (name in secrets || `${name}.*` in secrets) return [];
    const json = jsonOf(field);
    const inner = Object.entries(Object.assign({}, ...optionsOf(json).map((o) => o.properties)));
    const within = inner
      .filter(([key]) => !(`${name}.${key}` in secrets))
      .flatMap(([key, schema]) =>
        listCandidates(schema as JsonSchema).map((value) => ({ [key]: value })),
      );
    return [...listCandidates(json), ...within]
      .filter((value) => {
        const before = home[name] ?? field.safeParse(undefined).data;
        const isPart = isPartOf(value);
        return field.safeParse(isPart ? { ...(before as object), ...value } : value).success;
      })
      .map((value) => {
        return {
          [name]: isPartOf(value) ? { ...(settings[name] as Own | undefined), ...value } : value,
        };
      });
  });
}

/**
 * Two changes at once, one of which moves a secret, and changes to a mail server with another
 * authentication method.
 */
function combineChanges(snapshot: Snapshot, type: string): Own[] {
  const single = listChanges(snapshot, type);
  const destinations = Object.values(snapshot.kinds[type]?.secrets ?? {});
  const isDestination = (change: Own) =>
    Object.keys(change).some((name) => destinations.some((where) => name in where));
  const ways = type in settingsKinds ? smtpWays : [];
  const getSmtp = (change: Own) => change["smtp"] as Own;
  const fieldOf = (change: Own) => Object.keys(change)[0] ?? "";
  // Two values per field are enough, and one for fields without effect on the address; single changes cover the rest.
  const some = [...Map.groupBy(single, fieldOf).values()].flatMap((changes) =>
    type in settingsKinds ? changes : changes.slice(0, changes.some(isDestination) ? 2 : 1),
  );
  return [
    ...some.flatMap((one, index) =>
      some
        .slice(index + 1)
        .filter((other) => isDestination(one) || isDestination(other))
        .filter((other) => type in settingsKinds || fieldOf(one) !== fieldOf(other))
        .map((other) =>
          type in settingsKinds
            ? { smtp: { ...getSmtp(one), ...getSmtp(other) } }
            : { ...one, ...other },
        ),
    ),
    ...ways.flatMap((way) =>
      [{}, ...single.map(getSmtp)].map((change) => ({
        smtp: { auth: "password", ...way, tls: "starttls", ...change },
      })),
    ),
  ];
}

/** The secrets that this change would send again. */
function addSecrets({ kinds, home }: Snapshot, type: string, change: Own): Own {
  const body: Own = { ...change };
  for (const path of Object.keys(kinds[type]?.secrets ?? {})) {
    const [field = "", inner] = path.split(".");
    const value = home[field];
    if (value === undefined) continue;
    if (inner === undefined || inner === "*") body[field] = value;
    else
      body[field] = {
        ...(value as object),
        ...(change[field] as object | undefined),
        [inner]: (value as Own)[inner],
      };
  }
  return body;
}

/** Whether a field of the change affects the address of the secret at this path. */
function isMoved(secrets: Kinds[string]["secrets"], path: string, change: Own): boolean {
  const destination = secrets[path] ?? secrets[path.replace(/\..*/, ".*")] ?? {};
  return Object.keys(change).some((name) => name in destination);
}

const typesWithSecrets = everyType
  .filter(({ noun, kind }) => noun in worlds && Object.keys(kind.secrets).length > 0)
  // One type covers the fields of all monitors; the matrix covers the secrets of each type.
  .filter(({ noun, type }) => noun !== "monitors" || type === "http")
  .flatMap((one) => {
    const names = Object.keys(one.kind.secrets).map((path) => path.split(".")[0] ?? "");
    const homes = {
      "alert-channels": listChannelHomes(one.type).map((home) =>
        names.some((name) => name in home),
      ),
      settings: smtpWays.map(() => true),
      monitors: listHttpHomes("http://shop.lan").map(() => true),
    }[one.noun] ?? [true];
    return homes.flatMap((hasSecrets, variant) => (hasSecrets ? [{ ...one, variant }] : []));
  });

describe("an encrypted secret is never sent to a changed address", () => {
  test.each(Object.keys(channelKinds))("each secret of %s is covered", (type) => {
    const tried = listChannelHomes(type).flatMap((home) => Object.keys(home));
    const secrets = Object.keys(channelKinds[type as keyof typeof channelKinds].secrets);
    expect(tried).toEqual(expect.arrayContaining(secrets.map((path) => path.replace(/\..*/, ""))));
  });

  test("each secret of a mail server is covered", () => {
    const tried = smtpWays.flatMap((way) => Object.keys(way).map((name) => `smtp.${name}`));
    for (const path of Object.keys(settingsKinds.organization.secrets))
      expect(tried).toContain(path);
  });

  test("each secret of an http monitor is covered", () => {
    const tried = listHttpHomes("http://shop.lan").flatMap((home) => Object.keys(home));
    const secrets = Object.keys(monitorKinds.http.secrets);
    expect(tried).toEqual(expect.arrayContaining(secrets.map((path) => path.replace(/\..*/, ""))));
  });

  test.each(typesWithSecrets)(
    "$noun: $type, $variant: the page requires the same secrets as the appliance",
    async ({ noun, type, kind, variant }) => {
      await using snapshot = (await worlds[noun]?.(type, variant)) as Snapshot;
      const { kinds, home, change, read } = snapshot;
      const paths = Object.keys(splitSecrets(kinds, type, home).secrets);
      const record = (await read()).json.data;
      let refusals = 0;
      for (const patch of [...listChanges(snapshot, type), ...combineChanges(snapshot, type)]) {
        const { status, json } = await change(patch);
        const details: { path: string; message: string }[] = json.error?.details ?? [];
        const requests = details.filter(({ message }) => message.includes("send it again"));
        const page = createStoredSecrets(kinds, type, record, patch, () => undefined);
        // Other errors are reported first.
        if (status === 422 && requests.length === 0) continue;
        expect([patch, paths.filter((path) => page.needsReentry(path)).toSorted()]).toEqual([
          patch,
          requests.map(({ path }) => path).toSorted(),
        ]);
        refusals += requests.length;
        if (status === 200)
          expect((await change({ ...home, ...addSecrets(snapshot, type, {}) })).status).toBe(200);
      }
      const moves = Object.values(kind.secrets).some((where) => Object.keys(where).length > 0);
      expect(refusals > 0).toBe(moves);
    },
  );

  test.each(typesWithSecrets)("$noun: $type, $variant", async ({ noun, type, kind, variant }) => {
    await using snapshot = (await worlds[noun]?.(type, variant)) as Snapshot;
    const { home, change, use, tryOut, astray, isSentHome } = snapshot;
    const { secrets } = splitSecrets(snapshot.kinds, type, home);
    const paths = Object.keys(secrets).toSorted();
    const tried = Object.entries(kind.secrets).filter(([path]) =>
      paths.some((one) => one === path || one.startsWith(path.replace(/\*$/, ""))),
    );
    await use();
    expect(isSentHome()).toBe(true);

    const refused: Own[] = [];
    for (const patch of listChanges(snapshot, type)) {
      const { status, json } = await change(patch);
      if (status === 200) {
        await use();
        if (paths.some((path) => isMoved(kind.secrets, path, { verifyTls: false })))
          expect(patch).not.toHaveProperty("verifyTls", false);
        const whole = { ...home, ...addSecrets(snapshot, type, {}) };
        expect([patch, (await change(whole)).status]).toEqual([patch, 200]);
      } else if (json.error.message.includes("send it again")) {
        refused.push(patch);
        const request = json.error.details.map((detail: { path: string }) => detail.path);
        const theirs = paths.filter((path) => isMoved(kind.secrets, path, patch));
        expect([patch, status, request.toSorted()]).toEqual([patch, 422, theirs]);
        await tryOut?.(patch);
      }
      expect([patch, astray().filter(isSecret)]).toEqual([patch, []]);
    }

    // The broker is not encrypted, so no change of `tls` makes it weaker.
    const decisive = tried
      .flatMap(([, destination]) => Object.keys(destination))
      .filter((name) => type !== "mqtt" || name !== "tls");
    const moved = refused.flatMap((patch) => Object.keys(patch));
    expect([...new Set(moved)].toSorted()).toEqual([...new Set(decisive)].toSorted());
    for (const patch of refused) {
      const sent = addSecrets(snapshot, type, patch);
      expect([patch, (await change(sent)).status]).toEqual([patch, 200]);
      const back = { ...home, ...addSecrets(snapshot, type, {}) };
      expect((await change(back)).status).toBe(200);
    }
  });
});
