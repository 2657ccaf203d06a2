/** Judges a composite monitor by the states of the monitors on which it depends. */
import { notJudgedPrefix } from "../../../core/text/formatting.ts";
import type { MonitorSettings } from "../../monitors/kinds-schema.ts";
import type { Member } from "../../dependencies/rules.ts";
import type { CheckKind } from "../check.ts";

type Settings = MonitorSettings<"composite">;

/** Fields of every monitor, which the engine adds to the settings. One that is not saved has no ID. */
type Added = { dependsOn?: readonly string[]; id?: string };

export const checkComposite: CheckKind<"composite"> = async (settings, context) => {
  const { dependsOn = [], id = null } = settings as Settings & Added;
  return judgeMembers(settings, await context.membersOf(dependsOn, id));
};

/** Maximum number of names in a message. */
const maxNames = 3;

function judgeMembers({ mode, minimum }: Settings, all: readonly Member[]) {
  const members = all.filter(({ status }) => status !== "paused" && status !== "maintenance");
  if (all.length === 0) return createEmptyResult("it depends on no monitors");
  if (members.length === 0)
    return createEmptyResult("none of its monitors is checked at the moment");
  if (members.every(({ status }) => status === "pending"))
    return createEmptyResult("none of its monitors was checked yet");
  const countOf = (...statuses: Member["status"][]) =>
    members.filter(({ status }) => statuses.includes(status)).length;
  const needed = {
    all: members.length,
    any: 1,
    count: minimum ?? 1,
    percentage: Math.ceil((members.length * (minimum ?? 100)) / 100),
  }[mode];
  // A monitor that was not checked yet causes no outage.
  const isEnough = countOf("up", "degraded", "pending") >= needed;
  const status = !isEnough ? "down" : countOf("up", "pending") >= needed ? "up" : "degraded";
  const message = `${countOf("up", "degraded")} of ${members.length} are up, ${needed} must be.`;
  const names = members.filter((one) => one.status === "down").map(({ name }) => name);
  return {
    status,
    message,
    ...(names.length > 0 && { serverText: `${message} ${listNames(names)} down.` }),
    latencyMs: null,
    // The states of its monitors are the result of retries already.
    isFinal: true,
  } as const;
}

const createEmptyResult = (reason: string) =>
  ({
    status: "unknown",
    message: `${notJudgedPrefix}${reason}.`,
    latencyMs: null,
    hasNothingToJudge: true,
  }) as const;

function listNames(names: readonly (string | null)[]): string {
  const listedNames = names.filter((name) => name !== null).slice(0, maxNames);
  const more = names.length - listedNames.length;
  if (listedNames.length === 0) return `${more} ${more === 1 ? "is" : "are"}`;
  const last = more > 0 ? `${more} more` : listedNames.length > 1 ? listedNames.pop() : undefined;
  const text =
    last === undefined ? listedNames.join(", ") : `${listedNames.join(", ")} and ${last}`;
  return `${text} ${names.length === 1 ? "is" : "are"}`;
}
