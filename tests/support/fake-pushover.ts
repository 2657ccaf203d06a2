/** Pushover as a fake: messages, and emergencies that it repeats until someone confirms them. */
import { exchange as real, type Exchange } from "../../src/core/outgoing/http/exchange.ts";
import { TargetFailure } from "../../src/core/outgoing/failures.ts";

/** An emergency. Times are Unix seconds; 0 for never. */
type Emergency = {
  receipt: string;
  title: string;
  tags: string[];
  token: string;
  expiresAt: number;
  acknowledgedAt: number;
  isCanceled: boolean;
  /** Milliseconds of the requests for its receipt. */
  polls: number[];
};

/**
 * Pushover according to its documentation. Only messages of priority 2 have a receipt, which only
 * their application can read.
 * https://pushover.net/api#priority and https://pushover.net/api/receipts
 */
export function createFakePushover() {
  const messages: string[] = [];
  const emergencies: Emergency[] = [];
  const world = { now: () => 0, mode: "well" as "well" | "broken" | "lost" };
  const readSeconds = () => Math.floor(world.now() / 1000);

  function send(form: URLSearchParams) {
    const title = form.get("title") ?? "";
    messages.push(title);
    if (form.get("priority") !== "2") return { status: 1 };
    const [retry, expire] = [Number(form.get("retry")), Number(form.get("expire"))];
    if (!(retry >= 30 && expire <= 10_800)) return { status: 0, errors: ["retry or expire"] };
    const receipt = `r${String(emergencies.length).padStart(29, "0")}`;
    emergencies.push({
      receipt,
      title,
      tags: (form.get("tags") ?? "").split(","),
      token: form.get("token") ?? "",
      expiresAt: readSeconds() + expire,
      acknowledgedAt: 0,
      isCanceled: false,
      polls: [],
    });
    return { status: 1, receipt };
  }

  function read(receipt: string, token: string | null) {
    const one = emergencies.find((found) => found.receipt === receipt && found.token === token);
    if (one === undefined) return { status: 0, receipt: "not found" };
    one.polls.push(world.now());
    return {
      status: 1,
      acknowledged: Number(one.acknowledgedAt > 0),
      acknowledged_at: one.acknowledgedAt,
      acknowledged_by: one.acknowledgedAt > 0 ? "u".repeat(30) : "",
      acknowledged_by_device: one.acknowledgedAt > 0 ? "phone" : "",
      last_delivered_at: readSeconds(),
      expired: Number(one.isCanceled || readSeconds() >= one.expiresAt),
      expires_at: one.expiresAt,
      called_back: 0,
      called_back_at: 0,
    };
  }

  function cancel(tag: string, token: string | null) {
    const found = emergencies.filter((one) => one.tags.includes(tag) && one.token === token);
    for (const one of found) one.isCanceled = true;
    return { status: 1, canceled: found.length };
  }

  function respond(method: string, url: URL, form: URLSearchParams): object {
    const [, tag] = /^\/1\/receipts\/cancel_by_tag\/(.+)\.json$/.exec(url.pathname) ?? [];
    const [, receipt] = /^\/1\/receipts\/(\w+)\.json$/.exec(url.pathname) ?? [];
    if (method === "POST" && url.pathname === "/1/messages.json") return send(form);
    if (method === "POST" && tag !== undefined)
      return cancel(decodeURIComponent(tag), form.get("token"));
    if (method === "GET" && receipt !== undefined)
      return read(receipt, url.searchParams.get("token"));
    return { status: 0, errors: ["not found"] };
  }

  const exchange: Exchange = (request, context) => {
    const { url, method, body } = request;
    if (url.hostname !== "api.pushover.net") return real(request, context);
    const createAnswer = (status: number, fields: object) =>
      Promise.resolve({ status, headers: new Map(), body: JSON.stringify(fields) });
    if (world.mode === "broken") return createAnswer(500, {});
    const fields = { request: "0", ...respond(method, url, new URLSearchParams(String(body))) };
    if (world.mode === "lost")
      return Promise.reject(new TargetFailure("The connection was closed."));
    return createAnswer("status" in fields && fields.status === 1 ? 200 : 400, fields);
  };

  return {
    exchange,
    world,
    messages,
    emergencies,
    /** Confirms an emergency on the phone. */
    confirm: (one: Emergency | undefined) => {
      if (one !== undefined) one.acknowledgedAt = readSeconds();
    },
    /** Titles of the emergencies that are repeated now. */
    repeated: () =>
      emergencies
        .filter(
          (one) => !one.isCanceled && one.acknowledgedAt === 0 && readSeconds() < one.expiresAt,
        )
        .map(({ title }) => title),
  };
}
