import { createHttpProvider, createStatusVerdict } from "../provider.ts";
import type { Message } from "../sending/messages.ts";
import { buildEvent, joinUrl, renderLinesAndLinks } from "./formatting.ts";

/**
 * Calls a notify service, or fires an event. Apps replace a notification with the same tag, so an outage and its end
 * are one notification.
 * https://developers.home-assistant.io/docs/api/rest and, for data of notifications,
 * https://companion.home-assistant.io/docs/notifications/notifications-basic
 */
export const homeassistant = createHttpProvider<"homeassistant">({
  request: ({ server, token, service }, message) => ({
    url: joinUrl(
      server,
      service === null ? "/api/events/signalbox_alert" : `/api/services/notify/${service}`,
    ),
    headers: { Authorization: `Bearer ${token}` },
    body: service === null ? buildEvent(message) : buildNotification(service, message),
  }),
  judge: createStatusVerdict("Home Assistant", { 401: "the access token is not valid" }),
});

function buildNotification(service: string, message: Message) {
  const { id, title, problem, url } = message;
  const data = { tag: problem?.key ?? id, group: "signalbox", url, clickAction: url };
  const text = { title, message: renderLinesAndLinks(message) };
  // `persistent_notification` does not accept `data`.
  return service === "persistent_notification" ? text : { ...text, data };
}
