/** Every kind of report from outside, with the faults of senders and networks: nothing is lost, nothing is doubled. */
import { beforeAll, describe, expect, test } from "bun:test";
import { generateKeyPairSync } from "node:crypto";
import { createApiKey } from "../../../src/accounts/api-keys/service.ts";
import {
  findRecipient,
  type MailContext,
  receiveMail,
} from "../../../src/alerting/sources/mail/receive.ts";
import { createReceivingRoutes } from "../../../src/alerting/sources/receiving-routes.ts";
import { sourceTypes } from "../../../src/alerting/sources/schema.ts";
import { AppError } from "../../../src/core/errors.ts";
import { type Exchange, exchange } from "../../../src/core/outgoing/http/exchange.ts";
import { hourMs } from "../../../src/core/time/clock.ts";
import { createNetworkLimit, createRateLimit } from "../../../src/http/access/rate-limit.ts";
import { httpStatuses } from "../../../src/http/responses/error-response.ts";
import { pushRoutes } from "../../../src/monitoring/checks/push.ts";
import { createPingRoutes } from "../../../src/monitoring/pings/ping-routes.ts";
import { reportRun } from "../../../src/monitoring/pings/ping.ts";
import { dumpTables } from "../../support/appliance.ts";
import { createKeyOwner, issueCertificate } from "../../support/certificate-builder.ts";
import { createPager } from "../../support/pager.ts";
import {
  createSnsSender,
  isMail,
  padBody,
  type Reported,
  type Sender,
  senders,
  type SentRequest,
  snsCertificateUrl,
} from "../../support/senders.ts";

const amazon = generateKeyPairSync("rsa", { modulusLength: 2048 });
const certificate = issueCertificate(
  { name: "sns.amazonaws.com", key: amazon.privateKey, publicKey: amazon.publicKey },
  createKeyOwner("Authority"),
);
const exchangeAsAmazon: Exchange = async (request, context) =>
  request.url.href === snsCertificateUrl
    ? { status: 200, headers: new Map(), body: certificate }
    : exchange(request, context);

const all: readonly (readonly [string, Sender])[] = [
  ...Object.entries(senders),
  ["Amazon SNS", createSnsSender(amazon.privateKey)],
];

type Pager = Awaited<ReturnType<typeof createPager>>;

const count = ({ database }: Pager, tableName: string, id: string) =>
  database.query<{ found: number | null }, string[]>(`select ${tableName}`).get(id)?.found ?? 0;

/** Creates the source or monitor that a sender reports to. Returns its token, and the number of its stored reports. */
async function createReceiver(world: Pager, { receiver, fields }: Sender, channelId: string) {
  const alertChannelIds = [channelId];
  if (receiver !== "job" && receiver !== "job with a ping key") {
    const body = { name: "Source", type: receiver, alertChannelIds, ...fields };
    const { status, json, text } = await world.api("POST", "/api/v1/alert-sources", { body });
    if (status !== 201) throw new Error(text);
    const { id, address } = json.data as { id: string; address: string };
    const requests =
      "sum(count) as found from alert_source_requests where source_id = ? and status = 200";
    return {
      id,
      token: /\+(\w+)@|\/in\/(\w+)$/.exec(address)?.slice(1).join("") ?? "",
      countStored: () => count(world, requests, id),
    };
  }
  const slug = `job-${channelId}`;
  const job = { interval: 86_400, slug, alertChannelIds, ...fields };
  const { id, path } = await world.createJob(job);
  await world.engine.runOnce();
  const key =
    receiver === "job"
      ? null
      : await createApiKey(world.ours.scope, { name: "Jobs", scope: "ping", expiresInMs: null });
  const buildRows = (table: string) =>
    `count(*) as found from ${table} where monitor_key = (select key from monitor_states where monitor_id = ?)`;
  return {
    id,
    token: key === null ? path.slice("/push/".length) : `${key.key}/${slug}`,
    countStored: () => {
      const [reports, results] = ["push_reports", "heartbeats"].map((table) =>
        count(world, buildRows(table), id),
      );
      expect(results).toBe(reports as number);
      return results as number;
    },
  };
}

/** Stores a mail as the SMTP listener does, without its connection. */
async function sendMail({ path, body }: SentRequest, context: MailContext): Promise<number> {
  try {
    const recipient = await findRecipient(path, "10.0.0.1", context);
    await receiveMail(Buffer.from(body), [recipient], "10.0.0.1", context);
    return 200;
  } catch (error) {
    if (error instanceof AppError) return httpStatuses[error.code];
    throw error;
  }
}

/** A receiver in this world, whose alerts go to its own inbox. */
async function createWay(world: Pager, sender: Sender) {
  const { appliance, engine, stranger, later } = world;
  const { store, clock, sourceWriter: writer } = appliance;
  const inbox = await world.inbox();
  const { id, token, countStored } = await createReceiver(world, sender, inbox.id);
  const mails: MailContext = {
    store,
    writer,
    wrongTokens: createNetworkLimit(60, clock),
    mails: createRateLimit(600, clock),
    reportRun: (job, report) =>
      reportRun(job, report, { reportTo: engine.reportTo, services: appliance }),
  };
  const deliver = async (sent: SentRequest): Promise<number> => {
    if (isMail(sender)) return sendMail(sent, mails);
    const { method, path, body, headers } = sent;
    const type = path.startsWith("/push") ? "application/x-www-form-urlencoded" : "text/plain";
    const options = { raw: body, headers: { "Content-Type": type, ...headers } };
    return (await stranger(method, path, method === "GET" ? { headers: headers ?? {} } : options))
      .status;
  };
  let clockOff = 0;
  const write = (fields: Partial<Reported>, to = token) => {
    const at = world.time.now + clockOff;
    return sender.write(to, { problem: "disk", isOver: false, startedAt: at, at, ...fields });
  };
  return {
    token,
    countStored,
    listOpen: async () =>
      (await world.readAlerts("&status=open")).filter(({ subject }) => subject.id === id),
    deliver,
    write,
    /** The clock of the sender differs from that of the appliance. */
    setClock: (offMs: number) => (clockOff = offMs),
    send: (fields: Partial<Reported> = {}) => deliver(write(fields)),
    /** Messages in the inbox, in order. */
    listHeard: async () => {
      await later();
      return inbox
        .alerts()
        .map(({ type }) => (/\.(opened|down)$/.test(type) ? "problem" : type.replace(/.*\./, "")))
        .map((type) => (type === "resolved" || type === "up" ? "over" : type));
    },
  };
}

const isAccepted = (status: number) => status >= 200 && status < 300;

for (const [name, sender] of all)
  describe(name, () => {
    const { maxBytes, knowsRepeated = false, knowsOccurrence = false } = sender;
    let world: Pager;
    beforeAll(async () => {
      world = await createPager({ exchange: exchangeAsAmazon });
    });

    test("reports each change once, however often it is repeated", async () => {
      const { write, deliver, listHeard, countStored } = await createWay(world, sender);
      const problem = write({});
      const statuses = await Promise.all([problem, problem].map(deliver));
      expect(await listHeard()).toEqual(["problem"]);
      statuses.push(await deliver(problem));
      const endReport = write({ isOver: true, startedAt: world.time.now - 10_000 });
      statuses.push(
        ...(await Promise.all([endReport, endReport].map(deliver))),
        await deliver(endReport),
      );
      expect(await listHeard()).toEqual(["problem", "over"]);
      statuses.push(await deliver(problem));
      const expected = ["problem", "over", ...(knowsRepeated ? [] : ["problem"])];
      expect(await listHeard()).toEqual(expected);
      expect(statuses.filter((status) => !isAccepted(status))).toEqual([]);
      // A mail that arrives again is recognized by its Message-ID, and not stored.
      expect(countStored()).toBe(isMail(sender) ? 2 : 7);
    });

    test("an end without a problem is silent, and an end that overtakes its problem is not lost", async () => {
      const { send, listHeard } = await createWay(world, sender);
      const received: string[] = [];
      for (const round of [1, 2]) {
        const startedAt = world.time.now;
        expect(isAccepted(await send({ isOver: true, startedAt, at: startedAt + 1_000 }))).toBe(
          true,
        );
        expect(await listHeard()).toEqual(received);
        await send({ startedAt, at: startedAt });
        if (!knowsOccurrence) received.push("problem");
        expect([round, await listHeard()]).toEqual([round, received]);
        if (!knowsOccurrence) {
          await send({ isOver: true, startedAt, at: startedAt + 60_000 });
          received.push("over");
        }
      }
      const startedAt = world.time.now;
      await send({ startedAt });
      received.push("problem");
      expect(await listHeard()).toEqual(received);
      if (!knowsOccurrence) return;
      // A late end of an earlier problem.
      await send({ isOver: true, startedAt: startedAt - 60_000, at: startedAt - 30_000 });
      expect(await listHeard()).toEqual(received);
      await send({ isOver: true, startedAt, at: startedAt + 30_000 });
      expect(await listHeard()).toEqual([...received, "over"]);
    });

    test("the clock of the sender does not matter", async () => {
      const { send, listHeard, setClock } = await createWay(world, sender);
      const received: string[] = [];
      for (const offMs of [-hourMs, hourMs]) {
        setClock(offMs);
        const startedAt = world.time.now + offMs;
        await send({ startedAt });
        received.push("problem");
        expect(await listHeard()).toEqual(received);
        await send({ isOver: true, startedAt });
        received.push("over");
        expect(await listHeard()).toEqual(received);
      }
    });

    test("a body of its limit is accepted, and a longer one changes nothing", async () => {
      const { write, deliver, countStored, listHeard } = await createWay(world, sender);
      const before = dumpTables(world);
      if (maxBytes !== null) {
        expect(await deliver(padBody(write({}), maxBytes + 1))).toBe(413);
        expect(dumpTables(world)).toBe(before);
      }
      expect(isAccepted(await deliver(padBody(write({}), maxBytes ?? 1_048_577)))).toBe(true);
      expect(countStored()).toBe(1);
      expect(await listHeard()).toEqual(["problem"]);
    });

    test("a wrong token changes nothing", async () => {
      const { write, deliver, token, send } = await createWay(world, sender);
      const before = dumpTables(world);
      for (const wrong of [token.slice(0, -1), token.toUpperCase(), "x".repeat(32)])
        expect(await deliver(write({}, wrong))).toBe(sender.unknownStatus);
      expect(dumpTables(world)).toBe(before);
      expect(isAccepted(await send())).toBe(true);
    });

    test("of many at once, each is stored once", async () => {
      const { write, deliver, countStored, listOpen, listHeard } = await createWay(world, sender);
      const problems = Array.from({ length: 40 }, (_, index) => `disk-${index}`);
      const burst = problems.map((problem) => write({ problem, startedAt: world.time.now }));
      const statuses = await Promise.all([...burst, ...burst].map(deliver));
      expect(statuses.filter((status) => !isAccepted(status))).toEqual([]);
      expect(countStored()).toBe(isMail(sender) ? 40 : 80);
      await listHeard();
      const isJob = sender.receiver.startsWith("job");
      expect(await listOpen()).toHaveLength(isJob ? 1 : 40);
    });
  });

test("every type of alert source and every address of reports has a sender", () => {
  expect(new Set(all.map(([, { receiver }]) => receiver))).toEqual(
    new Set([...sourceTypes, "job", "job with a ping key"]),
  );
  type Dependencies = [
    ...Parameters<typeof createReceivingRoutes>,
    ...Parameters<typeof createPingRoutes>,
  ];
  const [sources, push] = [{}, {}] as unknown as Dependencies;
  const routes: { method: string; path: string }[] = [
    ...createReceivingRoutes(sources).routes,
    ...createPingRoutes(push).routes,
    ...pushRoutes.map(({ path }) => ({ method: "POST", path })),
  ];
  const addresses = routes.filter(({ method }) => method === "POST").map(({ path }) => path);
  expect(new Set(all.flatMap(([, { paths }]) => paths))).toEqual(new Set(addresses));
});
