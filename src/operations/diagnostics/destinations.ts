/** Lists the hosts and mail servers to which alerts are sent. */
import { and, eq, isNull } from "drizzle-orm";
import { openSmtp } from "../../accounts/settings/service.ts";
import type { SmtpSettings } from "../../accounts/settings/schema.ts";
import {
  addressOf,
  receiverKinds,
  type ReceiverType,
} from "../../alerting/channels/kinds-schema.ts";
import { settingsOf } from "../../alerting/channels/service.ts";
import type { Vault } from "../../core/security/secrets.ts";
import type { Store } from "../../database/store.ts";
import { alertChannels } from "../../database/tables/alerting.ts";
import { organizationSettings } from "../../database/tables/accounts.ts";
import { organizations } from "../../database/tables/organizations.ts";

/** A host to which alerts are sent, and the names of its channels. */
export type ChannelHost = { origin: URL; channels: string[] };

/** A mail server and the names of the e-mail channels that use it. */
export type MailServer = { organization: string; smtp: SmtpSettings | null; channels: string[] };

export type Destinations = {
  hosts: ChannelHost[];
  mailServers: MailServer[];
  /** Names of records whose secrets the key can't decrypt. */
  sealed: string[];
};

/** Returns scheme, host and port. `URL.origin` is `null` for schemes other than those of the web. */
export const formatOrigin = ({ protocol, host }: URL): string => `${protocol}//${host}`;

/**
 * Returns the destinations of alerts of all organizations. URL paths are left out, because chat
 * services put secrets into them.
 */
export async function findDestinations(store: Store, vault: Vault): Promise<Destinations> {
  const [channels, settings] = await Promise.all([
    store.db
      .select({ channel: alertChannels, organization: organizations.name })
      .from(alertChannels)
      .innerJoin(organizations, eq(organizations.id, alertChannels.organizationId))
      .where(and(eq(alertChannels.enabled, true), isNull(organizations.deletedAt))),
    store.db
      .select({ row: organizationSettings, organization: organizations.name })
      .from(organizationSettings)
      .innerJoin(organizations, eq(organizations.id, organizationSettings.organizationId))
      .where(isNull(organizations.deletedAt)),
  ]);
  const hosts = new Map<string, ChannelHost>();
  const sealed: string[] = [];
  for (const { channel, organization } of channels) {
    const label = `${kindOf(channel.type).name} “${channel.name}” of ${organization}`;
    try {
      const url = addressOf(channel.type, settingsOf(vault, channel))?.url;
      if (url === undefined) continue;
      const origin = formatOrigin(url);
      const host = hosts.get(origin) ?? { origin: new URL(origin), channels: [] };
      hosts.set(origin, { ...host, channels: [...host.channels, label] });
    } catch {
      sealed.push(label);
    }
  }
  const mailServers = settings.flatMap(({ row, organization }): MailServer[] => {
    const ownChannels = channels.filter(
      ({ channel: { organizationId, type } }) =>
        organizationId === row.organizationId && kindOf(type).address === null,
    );
    const names = ownChannels.map(({ channel: { name } }) => name);
    try {
      return [{ organization, smtp: openSmtp(vault, row), channels: names }];
    } catch {
      sealed.push(`the mail server of ${organization}`);
      return [];
    }
  });
  return { hosts: [...hosts.values()], mailServers, sealed };
}

const kindOf = (type: string) => receiverKinds[type as ReceiverType];
