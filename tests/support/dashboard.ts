/** An appliance with functions to create and read groups, monitors and channels. */
import { expect } from "bun:test";
import { openAll } from "../../src/core/security/secrets.ts";
import { switchGroup } from "../../src/monitoring/groups/service.ts";
import { testAppliance } from "./appliance.ts";

/**
 * An appliance with shortcuts to create and read groups, monitors and channels of our organization.
 */
export async function createDashboard(settings: Parameters<typeof testAppliance>[0] = {}) {
  const appliance = await testAppliance(settings);
  const { api } = appliance.ours;

  async function postRecord(path: string, body: object) {
    const { status, json, text } = await api("POST", path, { body });
    expect([status, status === 201 ? "" : text]).toEqual([201, ""]);
    return json.data;
  }

  const createGroup = (body: object = {}) =>
    postRecord("/api/v1/monitor-groups", { name: "Payments", ...body });
  const router = { type: "ping", host: "192.168.1.1" };
  const createMonitor = (body: object = {}) =>
    postRecord("/api/v1/monitors", { name: "Router", ...(!("type" in body) && router), ...body });
  const mail = { type: "email", to: ["oncall@team.example"] };
  const createChannel = (body: object = {}) =>
    postRecord("/api/v1/alert-channels", {
      name: "On-call",
      ...(!("type" in body) && mail),
      ...body,
    });

  async function read(path: string) {
    const { status, json } = await api("GET", path);
    expect(status).toBe(200);
    return json.data;
  }

  return {
    ...appliance,
    api,
    group: createGroup,
    monitor: createMonitor,
    channel: createChannel,
    readGroupById: (id: string) => read(`/api/v1/monitor-groups/${id}`),
    readMonitor: (id: string) => read(`/api/v1/monitors/${id}`),
    changeGroup: (id: string, body: object) =>
      api("PATCH", `/api/v1/monitor-groups/${id}`, { body }),
    changeMonitor: (id: string, body: object) => api("PATCH", `/api/v1/monitors/${id}`, { body }),
    /** Pauses or resumes a group as a whole. */
    pauseGroup: (id: string, paused: boolean) =>
      switchGroup(appliance.ours.scope, id, paused ? "group.paused" : "group.resumed"),
    /** Mutes or unmutes a group as a whole. */
    muteGroup: (id: string, muted: boolean) =>
      switchGroup(appliance.ours.scope, id, muted ? "group.muted" : "group.unmuted"),
    /** Decrypts the secrets of one record: the only way to prove that a secret was stored. */
    readSecrets: (noun: "monitor" | "alert-channel", id: string) => {
      const table = noun === "monitor" ? "monitors" : "alert_channels";
      const row = appliance.database
        .query<{ secrets: string }, [string]>(`SELECT secrets FROM ${table} WHERE id = ?`)
        .get(id);
      const location = `${appliance.ours.id}/${noun}/${id}`;
      return openAll(appliance.appliance.vault, location, row?.secrets ?? "");
    },
    /** Whether a write with this ETag is rejected. */
    isStale: async (path: string, etag: string | null) => {
      const headers = { "If-Match": etag ?? "" };
      return (await api("PATCH", path, { body: {}, headers })).status === 412;
    },
    readEtag: async (path: string) => (await api("GET", path)).headers.get("etag"),
  };
}
