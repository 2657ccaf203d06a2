import type { ProblemName } from "../../core/problems.ts";

/** Titles of alerts about problems of the appliance, for the start and the end of each problem. */
export const problemTitles: Record<ProblemName, { begins: string; ends: string }> = {
  alerts: {
    begins: "Signalbox: alerts were left out",
    ends: "Signalbox: alerts are no longer left out",
  },
  backup: {
    begins: "Signalbox: the backup is missing",
    ends: "Signalbox: backups are being made again",
  },
  certificate: {
    begins: "Signalbox: its own certificate expires soon",
    ends: "Signalbox: its own certificate was renewed",
  },
  checks: {
    begins: "Signalbox can't check reliably",
    ends: "Signalbox can check reliably again",
  },
  clock: {
    begins: "Signalbox: the clock of its machine jumped",
    ends: "Signalbox: the clock of its machine is steady again",
  },
  disk: {
    begins: "Signalbox: the disk is nearly full",
    ends: "Signalbox: the disk has room again",
  },
  drill: {
    begins: "Signalbox: nobody acknowledged a drill",
    ends: "Signalbox: drills are acknowledged again",
  },
  events: {
    begins: "Signalbox has fallen behind",
    ends: "Signalbox has caught up",
  },
  loop: {
    begins: "Signalbox stalled",
    ends: "Signalbox is running normally again",
  },
  node: {
    begins: "Signalbox: one of its machines is not responding",
    ends: "Signalbox: all of its machines are responding again",
  },
  notices: {
    begins: "Signalbox: notices to subscribers were left out",
    ends: "Signalbox: notices to subscribers are no longer left out",
  },
  "on-call": {
    begins: "Signalbox: someone on call can't be reached",
    ends: "Signalbox: everyone on call can be reached again",
  },
  publishing: {
    begins: "Signalbox: a status page can't be published",
    ends: "Signalbox: status pages are published again",
  },
  storage: {
    begins: "Signalbox can't store results of checks",
    ends: "Signalbox stores results of checks again",
  },
};
