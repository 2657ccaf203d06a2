/** Recognizes the incoming webhooks of chats, whose address is their credential. */
import { HttpsUrl } from "../../core/fields.ts";

export type ChatType = "slack" | "teams" | "discord";

/**
 * Hosts and paths of each service:
 * https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks
 * https://discord.com/developers/docs/resources/webhook
 * https://learn.microsoft.com/microsoftteams/platform/webhooks-and-connectors/how-to/connectors-using
 */
const services: readonly { type: ChatType; host: RegExp; path: RegExp }[] = [
  { type: "slack", host: /^hooks\.slack(?:-gov)?\.com$/, path: /^\/services\/./ },
  {
    type: "discord",
    host: /^(?:canary\.|ptb\.)?discord(?:app)?\.com$/,
    path: /^\/api\/(?:v\d+\/)?webhooks\/./,
  },
  { type: "teams", host: /\.webhook\.office\.com$/, path: /^\/./ },
  { type: "teams", host: /\.(?:logic\.azure|api\.powerplatform)\.com$/, path: /\/workflows\/./ },
];

/** Returns the service of a webhook; null for any other address. */
export function findChatType(address: string): ChatType | null {
  if (!HttpsUrl.safeParse(address).success) return null;
  const { hostname, pathname, port, hash } = new URL(address);
  if (port !== "" || hash !== "") return null;
  return (
    services.find(({ host, path }) => host.test(hostname) && path.test(pathname))?.type ?? null
  );
}
