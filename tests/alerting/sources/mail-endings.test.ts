/** Subjects of real tools that name the end of a problem, or contain its words by accident. */
import { expect, test } from "bun:test";
import { isUsualEnd } from "../../../src/alerting/sources/mail/ending-rules.ts";

const ends = [
  "[db1] Backup OK",
  "Shop is back up",
  "[Shop] [✅ Up] 200 - OK",
  "Monitor is UP: Shop",
  "Resolved: Disk full",
  "[RECOVERY] db1 is OK!",
  "Checkmk: srv/Filesystem / CRIT -> OK",
  'OK: "failed-logins" in US East',
  "vzdump backup status (db1): backup successful",
  "12 succeeded, 0 failed",
  "Backup completed successfully without any failures",
  "Queue resolved, 3 jobs failed before",
  "Power back to normal",
  "UP | nightly",
  "Backup-OK",
  "Shop is back up, it was down for 5 min",
  "Resolved: the shop is down",
  "State changed from CRITICAL to OK",
  "WARNING to OK: disk",
  "db1 UP, was DOWN for 5 min",
  "Backend up",
  "OK: 0 ERROR",
];
test.each(ends)("“%s” is the end of a problem", (subject) => {
  expect(isUsualEnd(subject)).toBe(true);
});

const problems = [
  "Failed to back up NAS1",
  "Backup was not successful",
  "Server isn't up",
  "Disk not OK",
  "Job: 3 succeeded, 1 failed",
  "Problem has not been resolved",
  "could not be successfully completed",
  "Disk is filling up",
  "Set up db7",
  "Start-up failure",
  "Up to 5 jobs are late",
  "Cron <root@db1> /opt/bin/check --ok",
  "Checkmk: srv/Filesystem / OK -> CRIT",
  "up.example.com is down",
  "The online shop is down",
  "DOWN: online shop",
  "Success rate below 90 %",
  "/opt/recovery/run exited with 1",
  "State changed from OK to CRITICAL",
  "OK to WARNING: disk",
  "db1 is UP but its service is DOWN",
  "ERROR: the last success was on Monday",
  "Heads up: the certificate expires",
  "Follow up: disk full",
  "Time to catch up on updates",
  "Speed up the site",
  "Please back up the data",
  "1 of 2 nodes online: degraded",
  "log-on success audit missing",
];
test.each(problems)("“%s” is a problem", (subject) => {
  expect(isUsualEnd(subject)).toBe(false);
});
