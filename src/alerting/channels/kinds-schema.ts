/** The channel types by family, and the destination of each. */
import { t } from "../../core/text/texts.ts";
import type { z } from "zod";
import { caseKinds } from "./kinds/cases-schema.ts";
import { chatKinds } from "./kinds/chat-schema.ts";
import { mailKinds } from "./kinds/mail-schema.ts";
import { programKinds } from "./kinds/programs-schema.ts";
import { personalKinds, pushKinds } from "./kinds/push-schema.ts";

/** Types of alert channels, with their fields and texts. */
export const channelKinds = {
  ...programKinds,
  ...mailKinds,
  ...chatKinds,
  ...pushKinds,
  ...caseKinds,
};

export type ChannelType = keyof typeof channelKinds;

/** The types of each family, in the order of the lists. */
export const channelFamilies: readonly {
  id: string;
  name: string;
  types: readonly ChannelType[];
}[] = [
  { id: "chat", name: t("Chat"), types: listTypes(chatKinds) },
  { id: "phone", name: t("Phone"), types: listTypes(pushKinds) },
  { id: "mail", name: t("Mail"), types: listTypes(mailKinds) },
  { id: "cases", name: t("On-call services and issue trackers"), types: listTypes(caseKinds) },
  { id: "programs", name: t("Programs"), types: listTypes(programKinds) },
];

function listTypes<K extends object>(kinds: K): (keyof K)[] {
  return Object.keys(kinds) as (keyof K)[];
}

/** All types that `alerting/providers` sends to. */
export const receiverKinds = { ...channelKinds, ...personalKinds };

export type ReceiverType = keyof typeof receiverKinds;

/** Settings of a type, secrets included. */
export type ChannelSettings<T extends ReceiverType> = z.output<
  z.ZodObject<(typeof receiverKinds)[T]["fields"]>
>;

/**
 * Returns the destination of a channel's alerts, and its field, if a field contains it. Null for
 * the organization's mail server.
 */
export function addressOf(
  type: string,
  settings: Readonly<Record<string, unknown>>,
): { path: string | null; url: URL } | null {
  const { address, ownAddress = null } = receiverKinds[type as ReceiverType];
  const hasOwn = ownAddress !== null && typeof settings[ownAddress] === "string";
  const path = typeof address === "string" ? address : hasOwn ? ownAddress : null;
  const text = typeof address === "function" ? address(settings as never) : settings[path ?? ""];
  const url = typeof text === "string" ? URL.parse(text) : null;
  return url === null ? null : { path, url };
}
