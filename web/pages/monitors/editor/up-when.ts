/** The start of each monitor type's description of “up”. */
import type { MonitorType } from "../../../../src/monitoring/monitors/kinds-schema.ts";
import { t } from "../../../language/text.ts";

export const upWhen: Record<MonitorType, string> = {
  http: t("Up when the response has an expected status."),
  tcp: t("Up when the port accepts the connection."),
  ping: t("Up when the host returns the packets."),
  dns: t(
    "Up when there are records of the type, including the expected values, and all assertions about them hold.",
  ),
  tls: t("Up when the certificate is trusted and valid for this name."),
  push: t("Up when a job reports in time: after each interval, or when its schedule is due."),
  smtp: t(
    "Up when the mail server greets and answers EHLO or HELO, after signing in if you set a username.",
  ),
  imap: t(
    "Up when the mail server greets and lists its capabilities, after signing in if you set a username.",
  ),
  pop3: t("Up when the mail server greets, after signing in if you set a username."),
  ssh: t(
    "Up when the server proves its host key, which must match the fingerprint if you set one.",
  ),
  mqtt: t("Up when the broker accepts the connection, and the subscription if you set a topic."),
  redis: t(
    "Up when the server responds to PING, after signing in if you set a username or a password.",
  ),
  postgres: t(
    "Up when the server answers the query, and all assertions about its rows hold, for example that $[0].count is less than 100.",
  ),
  mysql: t(
    "Up when the server answers the query, and all assertions about its rows hold, for example that $[0].count is less than 100.",
  ),
  mongodb: t(
    "Up when the server responds to hello, after signing in (SCRAM-SHA-256) if you set a username.",
  ),
  mssql: t("Up when the server responds to the pre-login message."),
  kafka: t(
    "Up when a broker returns the metadata of its cluster, after signing in if you set a username.",
  ),
  rabbitmq: t(
    "Up when the broker greets over AMQP 0-9-1, or opens the virtualHost for the user if you set a username.",
  ),
  ldap: t("Up when the directory accepts the bind, which is anonymous without a username."),
  sip: t("Up when the telephone server responds to OPTIONS with an expected status."),
  websocket: t("Up when the server accepts the WebSocket."),
  grpc: t(
    "Up when the server reports by the gRPC health protocol that the service, or the whole server, is serving.",
  ),
  docker: t(
    "Up when the container of this name, or each one with label=KEY=VALUE, is running and not unhealthy.",
  ),
  snmp: t(
    "Up when the device returns the value of the object oid, and all assertions about it hold.",
  ),
  radius: t("Up when the server accepts the user, and signs its response with the shared secret."),
  ntp: t(
    "Up when the server is synchronized, its clock differs from that of this machine by no more than maxOffsetMs, and its stratum is not above maxStratum.",
  ),
  domain: t(
    "Up when the domain is registered for at least minDays more days, according to its registry (RDAP).",
  ),
  game: t(
    "Up when the game server reports its number of players: Source-engine games (protocol is source) or Minecraft Java edition (minecraft).",
  ),
  command: t("Up when the program exits with 0."),
  systemd: t("Up when the systemd unit of this machine is active."),
  composite: t(
    "Up when enough of the monitors in dependsOn are up: all, any, at least minimum (mode is count), or at least minimum percent (percentage).",
  ),
  statuspage: t(
    "Up when another status page reports normal operation of the chosen components, or of everything on it.",
  ),
  manual: t("Up when people set manualStatus to up."),
  browser: t(
    "Up when Chromium loads the page, its status is below 400, all steps succeed, and it contains the keyword.",
  ),
};
