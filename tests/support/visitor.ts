/** An appliance with its public pages, seen by anonymous visitors. */
import { expect } from "bun:test";
import { createNetworkLimit } from "../../src/http/access/rate-limit.ts";
import { createPageLock } from "../../src/status-pages/site/lock.ts";
import { createStatusSite } from "../../src/status-pages/site/status-site.ts";
import {
  findMeasured,
  type HeartbeatRow,
  insertHeartbeats,
} from "../../src/monitoring/uptime/store.ts";
import { SubscriberFanOut } from "../../src/status-pages/subscribers/fan-out.ts";
import { createSubscriptions } from "../../src/status-pages/subscribers/visits.ts";
import { createProxies } from "./appliance.ts";
import { createWatch } from "./check-board.ts";
import type { Json } from "./json.ts";

/** The response to an anonymous visitor. */
export type SiteResponse = {
  status: number;
  type: string | null;
  headers: Headers;
  bytes: Uint8Array<ArrayBuffer>;
  text: string;
  /** The parsed body. */
  json: () => Json;
};

type SiteRequest = {
  method?: string;
  host?: string;
  headers?: Record<string, string>;
  /** Form fields of the request. */
  form?: Record<string, string>;
};
type Page = { id: string; slug: string; [field: string]: unknown };
type PastHeartbeat = Partial<HeartbeatRow> & { ago: number };

/**
 * A dashboard, its engine and its public pages, as seen without a key. Data from before the first view is visible at once, later changes after `restart`.
 */
export async function createVisitor({
  rendersPerMinute = 600,
  ...settings
}: Parameters<typeof createWatch>[0] & {
  /** Uncached renders per client network. */
  rendersPerMinute?: number;
} = {}) {
  const watchWorld = await createWatch(settings);
  const { api, time, store, ours } = watchWorld;
  const { clock, vault } = watchWorld.appliance;
  const { addressOf: peerOf = () => "192.168.1.7", trustProxy = [] } = settings;
  const { addressOf, restoreSentRequest: asSent } = createProxies(trustProxy, peerOf);
  const subscriptions = createSubscriptions({
    services: watchWorld.appliance,
    signUps: createNetworkLimit(5, clock),
    addressOf,
  });
  const notices = new SubscriberFanOut(watchWorld.appliance);
  const lock = createPageLock(store, vault, clock, createNetworkLimit(10, clock), addressOf);
  let pageMs = 0;
  // Every action has its own timestamp.
  const monotonic = () => (pageMs += 1e-6);
  const open = async () => {
    const site = createStatusSite({
      ...watchWorld.appliance,
      monotonic,
      renderLimit: createNetworkLimit(rendersPerMinute, clock),
      addressOf,
      lock,
      subscriptions,
    });
    await site.start();
    return site;
  };
  let site = await open();

  async function requestSite(path: string, asking: SiteRequest = {}): Promise<SiteResponse | null> {
    const { method = "GET", host = "signalbox.lan:3210", headers = {}, form } = asking;
    const body = form && new URLSearchParams(form).toString();
    const request = new Request(`http://${host}${path}`, {
      method,
      headers: {
        Host: host,
        ...(body !== undefined && {
          "Content-Type": "application/x-www-form-urlencoded",
          ...(!("Transfer-Encoding" in headers) && { "Content-Length": String(body.length) }),
        }),
        ...headers,
      },
      ...(body !== undefined && { body }),
    });
    const response = await site.handleRequest(asSent(request));
    if (response === null) return null;
    const bytes = new Uint8Array(await response.arrayBuffer());
    const text = new TextDecoder().decode(bytes);
    const { status, headers: message } = response;
    const parseSeenJson = () => JSON.parse(text);
    return {
      status,
      type: message.get("content-type"),
      headers: message,
      bytes,
      text,
      json: parseSeenJson,
    };
  }

  async function writeRecord(method: string, path: string, body: object) {
    const { status, json, text } = await api(method, path, { body });
    expect([status, status < 300 ? "" : text]).toEqual([method === "POST" ? 201 : 200, ""]);
    return json.data;
  }

  async function get(path: string, asking?: SiteRequest): Promise<SiteResponse> {
    const seen = await requestSite(path, asking);
    if (seen === null) throw new Error(`${path} is none of the public pages' paths.`);
    return seen;
  }

  const getDefaultPage = async (): Promise<Page> =>
    (await api("GET", "/api/v1/status-pages")).json.data[0];

  return {
    ...watchWorld,
    notices,
    /** Null when the path does not belong to the public pages. */
    ask: requestSite,
    /** The response of a port that serves only public pages. */
    respondAlone: (request: Request) => site.answerAlone(request),
    get,
    /** The published content at this path, which must exist. */
    readHtml: async (path: string, asking?: SiteRequest) => {
      const seen = await get(path, asking);
      expect([path, seen.status]).toEqual([path, 200]);
      return seen;
    },
    /** Ages the cached pages by this time. */
    passPageTime: (ms: number) => void (pageMs += ms),
    /** Restarts the pages with an empty cache. */
    restart: async () => {
      await site.stop();
      site = await open();
    },
    defaultPage: getDefaultPage,
    /** Changes the default page, `/status/ours`. */
    publish: async (fields: object): Promise<Page> =>
      writeRecord("PATCH", `/api/v1/status-pages/${(await getDefaultPage()).id}`, fields),
    /** Creates another page. */
    createPage: (fields: object = {}): Promise<Page> =>
      writeRecord("POST", "/api/v1/status-pages", {
        slug: "payments",
        title: "Payments",
        ...fields,
      }),
    changePage: (id: string, fields: object): Promise<Page> =>
      writeRecord("PATCH", `/api/v1/status-pages/${id}`, fields),
    createIncident: (fields: object = {}) =>
      writeRecord("POST", "/api/v1/incidents", { title: "Slow answers", ...fields }),
    postUpdate: (id: string, fields: object) =>
      writeRecord("PATCH", `/api/v1/incidents/${id}`, fields),
    /** Writes results of a monitor from this many milliseconds ago. */
    insertPastHeartbeats: async (monitorId: string, ...rows: PastHeartbeat[]) => {
      const monitorKey = (await findMeasured(store, ours.id, monitorId))?.key ?? 0;
      const usual = { status: "up", latencyMs: 34, seconds: 60, message: null } as const;
      const heartbeats = rows.map(({ ago, ...row }) => ({ ...usual, ...row, at: time.now - ago }));
      await store.atomic(insertHeartbeats(heartbeats.map((beat) => ({ ...beat, monitorKey }))));
    },
    [Symbol.asyncDispose]: () => site.stop(),
  };
}

export type Visitor = Awaited<ReturnType<typeof createVisitor>>;

/** A section with these monitors; `name` is the public name. */
export function buildSection(
  name: string,
  ...monitors: (string | [id: string, publicName: string])[]
) {
  return {
    name,
    monitors: monitors.map((one) =>
      typeof one === "string" ? { id: one } : { id: one[0], name: one[1] },
    ),
  };
}

/** Every element of a document in order, with its attribute names but without text. */
export function describeShape(html: string): string[] {
  const shape: string[] = [];
  new HTMLRewriter()
    .on("*", {
      element: ({ tagName, attributes }) => {
        shape.push([tagName, ...[...attributes].map(([name]) => name)].join(" "));
      },
      comments: () => void shape.push("comment"),
    })
    .transform(html);
  return shape;
}

/** The visible text of every element that matches the selector. */
export function readWords(html: string, selector: string): string[] {
  const words: string[] = [];
  new HTMLRewriter()
    .on(selector, {
      element: () => void words.push(""),
      text: ({ text }) => void (words[words.length - 1] += text),
    })
    .on(`${selector} br`, { element: () => void (words[words.length - 1] += "\n") })
    .transform(html);
  return words.map(decodeEntities);
}

const entities: Record<string, string> = {
  "&amp;": "&",
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&#x27;": "'",
  "&apos;": "'",
};

/** Decodes the entities that React and the feeds write. */
function decodeEntities(text: string): string {
  return text.replace(/&(?:amp|lt|gt|quot|#x27|apos);/g, (entity) => entities[entity] ?? entity);
}
