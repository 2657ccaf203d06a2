/** Titles of alerts about problems of the appliance, for the start and the end of each problem. */
import type { ProblemName } from "../../core/problems.ts";

export const problemTitles: Record<ProblemName, { start: string; end: string }> = {
  alerts: {
    start: "Signalbox: alerts were left out",
    end: "Signalbox: alerts are no longer left out",
  },
  backup: {
    start: "Signalbox: the backup is missing",
    end: "Signalbox: backups are being made again",
  },
  certificate: {
    start: "Signalbox: its own certificate expires soon",
    end: "Signalbox: its own certificate was renewed",
  },
  checks: {
    start: "Signalbox can't check reliably",
    end: "Signalbox can check reliably again",
  },
  clock: {
    start: "Signalbox: the clock of its machine jumped",
    end: "Signalbox: the clock of its machine is steady again",
  },
  disk: {
    start: "Signalbox: the disk is nearly full",
    end: "Signalbox: the disk has room again",
  },
  drill: {
    start: "Signalbox: nobody acknowledged a drill",
    end: "Signalbox: drills are acknowledged again",
  },
  events: {
    start: "Signalbox has fallen behind",
    end: "Signalbox has caught up",
  },
  loop: {
    start: "Signalbox stalled",
    end: "Signalbox is running normally again",
  },
  node: {
    start: "Signalbox: one of its machines is not responding",
    end: "Signalbox: all of its machines are responding again",
  },
  notices: {
    start: "Signalbox: notices to subscribers were left out",
    end: "Signalbox: notices to subscribers are no longer left out",
  },
  "on-call": {
    start: "Signalbox: someone on call can't be reached",
    end: "Signalbox: everyone on call can be reached again",
  },
  publishing: {
    start: "Signalbox: a status page can't be published",
    end: "Signalbox: status pages are published again",
  },
  storage: {
    start: "Signalbox can't store results of checks",
    end: "Signalbox stores results of checks again",
  },
  unhandled: {
    start: "Signalbox could not handle an event",
    end: "Signalbox handles all events again",
  },
};
