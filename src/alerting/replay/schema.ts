/** Wire format of a replay: which alerts other settings would have sent. */
import { z } from "zod";
import { Id, idSet, nullable, Timestamp } from "../../core/fields.ts";
import { alertBounds, monitorBounds } from "../../core/limits.ts";
import { AlertType } from "../schema.ts";

export const NewReplay = z
  .strictObject({
    monitorId: Id.optional().meta({ description: "Only the alerts of this monitor." }),
    groupId: Id.optional().meta({ description: "Only the alerts of this group's monitors." }),
    days: z.int().min(1).max(90).default(30),
    retries: z.int().min(0).max(10).optional(),
    successThreshold: z.int().min(1).max(10).optional(),
    degradedAfterMs: nullable(z.int().min(1).max(60_000)).optional().meta({
      description: "Null: slow checks are up.",
    }),
    interval: z.int().min(1).max(86_400).optional().meta({
      description:
        "Seconds. Only longer intervals can be replayed; monitors with a longer one keep theirs.",
    }),
    dependsOn: idSet(monitorBounds.dependencies.value).optional().meta({
      description: "The monitors on which all of these depend, instead of the saved ones.",
    }),
    alertChannelIds: idSet(100).optional().meta({
      description: "The channels of all of these, instead of the saved ones.",
    }),
    escalationPolicyId: nullable(Id).optional().meta({
      description:
        "The escalation policy of all of these, instead of the saved ones. Null: the default policy.",
    }),
  })
  .meta({ id: "NewReplay", example: { days: 14, retries: 2 } });
export type NewReplay = z.output<typeof NewReplay>;

const ReplayedAlert = z
  .object({
    monitor: z.object({ id: Id, name: z.string() }),
    type: AlertType,
    at: Timestamp,
    until: Timestamp.nullable().meta({ description: "Null if the problem lasts." }),
    escalationSteps: z.int().meta({
      description:
        "Steps of the escalation policy that would have run before its end, if no one acknowledged it.",
    }),
  })
  .meta({ id: "ReplayedAlert" });

const ReplayedAlerts = z
  .object({
    count: z.int(),
    held: z.int().meta({
      description: "Outages behind another monitor, whose alerts would have been held to the end.",
    }),
    messages: z.int().meta({
      description:
        "Messages to channels, with reminders and recoveries, before they are joined to digests.",
    }),
    escalationSteps: z.int().meta({
      description: "Steps of escalation policies that would have run, without acknowledgments.",
    }),
    escalationMessages: z.int().meta({
      description: "Messages of these steps to people and channels, in addition to `messages`.",
    }),
    alerts: z.array(ReplayedAlert).meta({
      description: `The newest ${alertBounds.replayedAlerts.value}, newest first.`,
    }),
  })
  .meta({ id: "ReplayedAlerts" });

export const Replay = z
  .object({
    from: Timestamp.nullable().meta({ description: "The first replayed check; null without any." }),
    monitors: z.int(),
    checks: z.int(),
    before: ReplayedAlerts.meta({ description: "With the saved settings." }),
    after: ReplayedAlerts.meta({ description: "With the requested settings." }),
    missed: z.int().meta({
      description: "Alerts of the saved settings during which the requested ones send none.",
    }),
    longestMissedSeconds: z.int(),
    notConsidered: z.array(z.string()).meta({ description: "What the replay leaves out." }),
  })
  .meta({
    id: "Replay",
    example: {
      from: "2026-11-06T23:02:00.000Z",
      monitors: 1,
      checks: 20_160,
      before: {
        count: 11,
        held: 0,
        messages: 22,
        escalationSteps: 14,
        escalationMessages: 19,
        alerts: [],
      },
      after: {
        count: 3,
        held: 0,
        messages: 6,
        escalationSteps: 6,
        escalationMessages: 9,
        alerts: [],
      },
      missed: 8,
      longestMissedSeconds: 40,
      notConsidered: ["Pauses, mutes and changes of settings in this time."],
    },
  });
export type Replay = z.infer<typeof Replay>;
