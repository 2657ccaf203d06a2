/** Alert channels as receivers of deliveries: reads their alerts and settings, and records their state. */
import { findChannel } from "./channels/service.ts";
import type { Tenant } from "../database/rows.ts";
import type { Alert } from "./alert.ts";
import { isOfCertificate, problemOf } from "./deciding/cases.ts";
import {
  type CaseChange,
  isAcknowledgeable,
  type MessageCase,
  subjectOf,
} from "./sending/messages.ts";
import { attemptDelivery, type LinkedRecord, type SendingContext } from "./sending/attempt.ts";
import { releaseIfUnsent, reserveMessage } from "./sending/daily-limit.ts";
import { recordFailure, recordSkip, updateChannelState } from "./sending/channel-state.ts";
import type { Receivers } from "./sending/queue.ts";
import { insertReceipt, isAwaited } from "./sending/receipts.ts";
import type { Progress } from "./sending/queue-rules.ts";

/** Creates the receivers of type `channel`. */
export function createChannelReceivers(context: SendingContext): Receivers {
  const { store, log, clock } = context;
  return {
    slots: { shared: 200, reserved: 50 },
    looks: [20, 10_000],
    subjectsOf: (organizationId, ids) => findSubjects({ store, organizationId }, ids),
    async find({ organizationId, receiverId }) {
      const tenant = { store, organizationId };
      const channel = await findChannel(tenant, receiverId);
      if (channel === null) return null;
      return {
        type: channel.type,
        refusal: channel.enabled ? null : "The channel was disabled.",
        async prepare(deliveryId) {
          const all = await findAlertsOfDelivery(tenant, deliveryId);
          const [sent, withheld] = divideMessages(all, clock());
          const alerts = sent.map(({ alert }) => alert);
          const positions = withheld.map(({ position }) => position);
          const statements = withholdAlerts(organizationId, deliveryId, positions);
          if (alerts.length === 0)
            return { statements, nothing: explainNothing(withheld, clock()) };
          const problem = await findCase(tenant, deliveryId);
          const missed = await findMissed(tenant, deliveryId, alerts);
          const records = selectRecords(all);
          const reserved = await reserveMessage(tenant, channel, clock());
          if (typeof reserved === "string") {
            const state = recordSkip(channel, reserved, clock());
            return { statements: [...statements, ...state], nothing: reserved };
          }
          return {
            statements,
            async send(signal, progress) {
              const options = { signal, progress, problem, missed, records };
              const sent = await attemptDelivery(context, channel, deliveryId, alerts, options);
              // The outcome of an aborted attempt is unknown.
              if (!signal.aborted) await releaseIfUnsent(reserved, sent);
              return sent;
            },
          };
        },
        recordAttempt(attempt, facts) {
          if (facts.isLost) log.warn("an alert channel fails", { channel: channel.id });
          return [
            ...updateChannelState(channel, attempt, {
              ...facts,
              isOpen: isAwaited(channel, facts),
            }),
            ...(facts.isLost ? recordFailure(channel, attempt, facts.now) : []),
            ...(facts.receipt === null
              ? []
              : [insertReceipt(organizationId, facts.deliveryId, facts.receipt, facts.now)]),
          ];
        },
      };
    },
  };
}

/** Whether an alert is the notice of a shift that has started. */
const isPastNotice = ({ type, data }: Alert, now: number) =>
  type === "shift.starting" && Date.parse(data.shift.startsAt) <= now;

type PendingMessage = { alert: Alert; isFollowable: boolean };

/** Divides the messages of a delivery into those that are sent and those that are left out. */
function divideMessages<M extends PendingMessage>(all: readonly M[], now: number): [M[], M[]] {
  const isSent = ({ isFollowable, alert }: M) => isFollowable && !isPastNotice(alert, now);
  return [all.filter(isSent), all.filter((one) => !isSent(one))];
}

/** Explains why a delivery without remaining messages was not sent. */
function explainNothing(withheld: readonly PendingMessage[], now: number): string {
  if (withheld.length === 0) return "All problems were over before the quiet hours ended.";
  return withheld.some(({ alert }) => isPastNotice(alert, now))
    ? "The shift had started before the notice could be sent."
    : "This channel was not alerted when the monitor went down, so the recovery is not sent.";
}

/** Returns the subjects of each delivery: monitors, incidents, reports of other tools, problems, and the cases that it opens or closes. */
async function findSubjects({ store, organizationId }: Tenant, deliveryIds: readonly string[]) {
  const rows = await store.query<{ deliveryId: string; subject: string }>(
    `select distinct t.delivery_id as deliveryId,
       coalesce(a.monitor_id, a.incident_id, json_extract(a.data, '$.report.id'),
         json_extract(a.data, '$.problem')) as subject
     from json_each(?1) wanted
       cross join delivery_alerts t on t.organization_id = ?2 and t.delivery_id = wanted.value
       cross join alerts a on a.organization_id = t.organization_id and a.id = t.alert_id
     where subject is not null
     union all select d.id, d.case_key from json_each(?1) wanted
       cross join deliveries d on d.organization_id = ?2 and d.id = wanted.value
     where d.case_key is not null`,
    [JSON.stringify(deliveryIds), organizationId],
  );
  const byDelivery = Map.groupBy(rows, ({ deliveryId }) => deliveryId);
  return new Map([...byDelivery].map(([id, all]) => [id, all.map(({ subject }) => subject)]));
}

/**
 * Returns the alerts of a delivery in order, without withheld ones. `isFollowable` is false for a
 * recovery whose earlier alerts did not arrive.
 */
async function findAlertsOfDelivery({ store, organizationId }: Tenant, deliveryId: string) {
  type Row = Omit<Alert, "data"> & {
    data: string;
    position: number;
    isFollowable: number;
    recordId: string | null;
    linkKey: string | null;
  };
  const rows = await store.query<Row>(
    `select t.position, a.id, a.type, a.at, a.data,
       t.follows is null or exists (select 1 from json_each(t.follows) j
         left join deliveries f on f.organization_id = t.organization_id and f.id = j.value
         where f.id is null or f.id = t.delivery_id or f.status = 'delivered') as isFollowable,
       a.record_id as recordId, r.link_key as linkKey
     from delivery_alerts t
       cross join alerts a on a.organization_id = t.organization_id and a.id = t.alert_id
       left join alert_records r on r.organization_id = a.organization_id and r.id = a.record_id
     where t.organization_id = ? and t.delivery_id = ? and not t.withheld order by t.position`,
    [organizationId, deliveryId],
  );
  return rows.map(({ position, isFollowable, id, type, at, data, recordId, linkKey }) => ({
    position,
    record: recordId === null || linkKey === null ? null : { id: recordId, linkKey },
    alert: { id, type, at, data: JSON.parse(data) as unknown } as Alert,
    isFollowable: isFollowable === 1,
  }));
}

/** Returns the alerts that the recipients can acknowledge, by the message's ID. */
function selectRecords(
  messages: readonly { alert: Alert; record: LinkedRecord | null }[],
): Map<string, LinkedRecord> {
  return new Map(
    messages.flatMap(({ alert, record }) =>
      record !== null && isAcknowledgeable(alert) ? [[alert.id, record] as const] : [],
    ),
  );
}

/** Returns the alerts before each recovery in this delivery, unless all recipients are known to have received them. */
async function findMissed(tenant: Tenant, deliveryId: string, alerts: readonly Alert[]) {
  const { store, organizationId } = tenant;
  const followed = await store.query<{ end: string; id: string; progress: string | null }>(
    `select t.alert_id as end, f.id, f.progress from delivery_alerts t
       cross join json_each(t.follows) j
       cross join deliveries f on f.organization_id = t.organization_id and f.id = j.value
     where t.organization_id = ?1 and t.delivery_id = ?2 and not t.withheld
       and (f.status = 'delivered' or f.id = ?2)
     order by t.position, j.key`,
    [organizationId, deliveryId],
  );
  const reachedBy = new Map(followed.map(({ id, progress }) => [id, parseReached(progress)]));
  reachedBy.set(deliveryId, "all");
  const reachedByEnd = new Map(
    [...Map.groupBy(followed, ({ end }) => end)].flatMap(([end, group]) => {
      const reached = group.map(({ id }) => reachedBy.get(id) ?? "all");
      const last = group.at(-1)?.id ?? "";
      return reached.includes("all") ? [] : [[end, { last, reached: reached.flat() }] as const];
    }),
  );
  const begins = new Map<string, Alert>();
  for (const id of new Set([...reachedByEnd.values()].map(({ last }) => last)))
    for (const { alert } of await findAlertsOfDelivery(tenant, id)) {
      const found = problemOf(alert);
      if (found !== null && !isOfCertificate(found.problem))
        begins.set(`${id} ${found.subjectId}`, alert);
    }
  return alerts.flatMap((end) => {
    const known = reachedByEnd.get(end.id);
    const begin = begins.get(`${known?.last} ${subjectOf(end)}`);
    if (known === undefined || begin === undefined) return [];
    return [{ end: end.id, alert: begin, reached: known.reached }];
  });
}

/** Returns the names of recipients that a delivery reached, if they are known. */
function parseReached(progress: string | null): readonly string[] | "all" {
  return progress === null ? "all" : ((JSON.parse(progress) as Progress).reached ?? []);
}

/** Returns the case that a delivery opens, changes or closes; null for none. */
async function findCase(
  { store, organizationId }: Tenant,
  deliveryId: string,
): Promise<MessageCase | null> {
  const [row] = await store.query<{
    key: string;
    isOver: number | null;
    change: CaseChange["type"] | null;
    names: string;
  }>(
    `select d.case_key as key, d.closes_case as isOver, d.case_change as change,
       (select json_group_array(k.actor_name order by k.at, k.actor_name) from delivery_alerts t
          join alerts a on a.organization_id = t.organization_id and a.id = t.alert_id
          join alert_acknowledgments k on k.organization_id = a.organization_id
            and k.record_id = a.record_id
          where d.case_change is not null and t.organization_id = d.organization_id
            and t.delivery_id = d.id) as names
     from deliveries d where d.organization_id = ? and d.id = ? and d.case_key is not null`,
    [organizationId, deliveryId],
  );
  if (row === undefined) return null;
  const { key, isOver, change, names } = row;
  const describe = (type: CaseChange["type"]) => ({
    type,
    note: describeChange(type, JSON.parse(names) as string[]),
  });
  return { key, isOver: isOver === 1, change: change && describe(change) };
}

function describeChange(change: CaseChange["type"], names: readonly string[]): string {
  if (change === "unacknowledge") return "Opened again in Signalbox.";
  return names.length === 0
    ? "Snoozed in Signalbox."
    : `Acknowledged by ${names.join(", ")} in Signalbox.`;
}

/** Permanently leaves these alerts out of a delivery. */
function withholdAlerts(organizationId: string, deliveryId: string, positions: readonly number[]) {
  if (positions.length === 0) return [];
  return [
    {
      text: `update delivery_alerts set withheld = 1 where organization_id = ? and delivery_id = ?
        and position in (select value from json_each(?))`,
      parameters: [organizationId, deliveryId, JSON.stringify(positions)],
    },
  ];
}
