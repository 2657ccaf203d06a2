/** A public page with subscribers, a mail server and webhooks. */
import { expect } from "bun:test";
import { SubscriberFanOut } from "../../src/status-pages/subscribers/fan-out.ts";
import { compileStatement } from "../../src/database/store.ts";
import { createAlertsEngine } from "./appliance.ts";
import { type Mail, startMailServer } from "./mail-server.ts";
import { replyWith, parseJsonBody, type Reply, startTarget } from "./target.ts";
import { createVisitor } from "./visitor.ts";
import type { Json } from "./json.ts";

export const ann = "ann@team.example";
export const bob = "bob@team.example";

type Settings = Parameters<typeof createVisitor>[0];

/** The parts of a received webhook that tests examine. */
type ReceivedDelivery = { id: string; type: string; timestamp: string; data: Json };

/** A default page at `/status/ours` with e-mail subscriptions. Nothing is sent before `send`. */
export async function createPublisher(page: object = {}, settings: Settings = {}) {
  /** The SMTP code with which the mail server rejects a mailbox; absent when it accepts it. */
  const refusals = new Map<string, number>();
  const server = await startMailServer({ recipient: (address) => refusals.get(address) ?? 0 });
  const siteWorld = await createVisitor({ allowTarget: ["127.0.0.1/32"], ...settings });
  const { api, appliance, store, time, get } = siteWorld;
  let { notices, alerts } = siteWorld;
  const useMail = async (smtp: object | null) =>
    expect((await api("PATCH", "/api/v1/settings", { body: { smtp } })).status).toBe(200);
  await useMail(server.smtp());
  const { id } = await siteWorld.publish({ title: "Acme status", ...page });
  const path = `/api/v1/status-pages/${id}/subscribers`;

  async function send() {
    await notices.runOnce();
    await alerts.runOnce();
  }

  async function addSubscriber(body: object, at = path) {
    const { status, json, text } = await api("POST", at, { body });
    expect([status, status === 201 ? "" : text]).toEqual([201, ""]);
    return json.data;
  }

  /** A confirmed e-mail subscriber of this page. */
  async function addMailbox(email: string = ann, at?: string) {
    const one = await addSubscriber({ type: "email", email, confirmed: true }, at);
    time.now += 1;
    return one;
  }

  const { mails } = server;
  return {
    ...siteWorld,
    pageId: id,
    /** The API path of the page's subscribers. */
    path,
    mails,
    refusals,
    /** Settings of a mail server that accepts every mail. */
    mailSettings: () => server.smtp(),
    useMail,
    signUp: (email: string, asking: Parameters<typeof get>[1] = {}) =>
      get("/status/ours/subscribe", { method: "POST", form: { email }, ...asking }),
    /** Creates the notices of pending events and sends due ones. */
    send,
    /** Advances the clock by a number of seconds and sends due notices. */
    sendAfter: async (seconds: number) => {
      time.now += seconds * 1000;
      await send();
    },
    added: addSubscriber,
    mailbox: addMailbox,
    /** A webhook subscriber of this page and its server. */
    async addHook(reply: Reply = replyWith(), fields: object = {}) {
      const receiver = await startTarget(reply);
      const { id } = await addSubscriber({ type: "webhook", url: receiver.at("/hook"), ...fields });
      time.now += 1;
      const listReceived = (): ReceivedDelivery[] =>
        receiver.asked.map((one) => ({
          id: String(one.headers["webhook-id"]),
          ...parseJsonBody<Omit<ReceivedDelivery, "id">>(one),
        }));
      return Object.assign(receiver, {
        id: id as string,
        received: listReceived,
        /** The message of each update, or the title of each maintenance window. */
        listMessages: () =>
          listReceived().map(({ data }) => data.message ?? data.maintenance.title),
      });
    },
    subscribers: async (query = ""): Promise<Json[]> =>
      (await api("GET", `${path}?per_page=100${query}`)).json.data,
    subscriber: async ({ id }: { id: string }) => (await api("GET", `${path}/${id}`)).json.data,
    /** Creates a maintenance window that the page shows. */
    planWindow: async (fields: object = {}) => {
      const body = {
        title: "Firmware",
        startsAt: "2026-11-22T02:00:00.000Z",
        endsAt: "2026-11-22T04:00:00.000Z",
        ...fields,
      };
      const { status, json, text } = await api("POST", "/api/v1/maintenance-windows", { body });
      expect([status, status === 201 ? "" : text]).toEqual([201, ""]);
      return json.data;
    },
    listSubjects: () => mails.map(({ headers }) => headers["subject"]?.[0]),
    /** Recipients of the sent mails, in order. */
    listRecipients: () => mails.flatMap(({ to }) => to),
    /** Restarts the engines from the stored state. */
    restart: async () => {
      await siteWorld.restart();
      notices = new SubscriberFanOut(appliance);
      alerts = createAlertsEngine(appliance);
    },
    /** Fails just before the next write that contains such a statement, like a power cut. */
    crashBefore: (statement: string) => {
      const atomic = store.atomic.bind(store);
      store.atomic = (statements) => {
        if (!statements.some((one) => compileStatement(one).text.includes(statement)))
          return atomic(statements);
        store.atomic = atomic;
        return Promise.reject(new Error("The power failed."));
      };
    },
    async [Symbol.asyncDispose]() {
      await siteWorld[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

export type Publisher = Awaited<ReturnType<typeof createPublisher>>;

/** The URL of the link with this verb in a mail; empty if there is none. */
export const findLink = (
  { text }: Pick<Mail, "text">,
  verb: "confirm" | "unsubscribe" | "manage",
) => new RegExp(`https?://\\S+/${verb}/[\\w.-]+`).exec(text)?.[0] ?? "";

/** The confirmation link of the last mail. */
export const findConfirmationLink = ({ mails }: Publisher) =>
  findLink(mails.at(-1) ?? { text: "" }, "confirm");
/** The unsubscribe link of the last mail. */
export const findUnsubscribeLink = ({ mails }: Publisher) =>
  findLink(mails.at(-1) ?? { text: "" }, "unsubscribe");

/** Opens the link of a mail like a browser, or presses its button. */
export async function followMailLink(
  { get }: Pick<Publisher, "get">,
  link: string,
  method: "GET" | "HEAD" | "POST" = "GET",
) {
  const { host, pathname } = new URL(link);
  return get(pathname, { method, host });
}

/** Subscribes a mailbox and confirms the subscription. */
export async function subscribeMailbox(publisher: Publisher, email: string = ann) {
  const { signUp, send, mails, time } = publisher;
  await signUp(email);
  await send();
  const mail = mails.findLast(({ to }) => to.includes(email));
  if (mail === undefined) throw new Error(`${email} was not asked.`);
  await followMailLink(publisher, findLink(mail, "confirm"), "POST");
  mails.length = 0;
  time.now += 1;
}
