import type { Tenant } from "../../database/rows.ts";
import type { Vault } from "../../core/security/secrets.ts";
import { recipientFields } from "./gateway-rules.ts";
import { type ChannelRow, findOrdinaryChannel, settingsOf } from "./service.ts";

/** Finds the channel whose gateway sends the messages of a channel: itself, unless a contact method names another one. */
export const findGateway = async (
  tenant: Tenant,
  channel: ChannelRow,
): Promise<ChannelRow | null> =>
  channel.gatewayId === null ? channel : findOrdinaryChannel(tenant, channel.gatewayId);

/** Returns the decrypted settings for a message: the settings of the gateway, with the recipient of the channel. */
export function resolveSettings(vault: Vault, channel: ChannelRow, gateway: ChannelRow) {
  const settings = settingsOf(vault, gateway);
  if (gateway.id === channel.id) return settings;
  const currentSettings = settingsOf(vault, channel);
  const names = recipientFields.filter((name) => name in currentSettings);
  return { ...settings, ...Object.fromEntries(names.map((name) => [name, currentSettings[name]])) };
}
