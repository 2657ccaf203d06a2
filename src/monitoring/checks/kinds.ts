import type { MonitorType } from "../monitors/kinds-schema.ts";
import { createOnFirstUse } from "../../core/first-use.ts";
import type { CheckKind } from "./check.ts";

/** Check of each monitor type. A push monitor has none: its job sends reports. */
export const checkKinds: { [T in Exclude<MonitorType, "push">]: CheckKind<T> } = {
  http: loadOnFirstCheck(async () => (await import("./kinds/http.ts")).checkHttp),
  tcp: loadOnFirstCheck(async () => (await import("./kinds/tcp.ts")).checkTcp),
  ping: loadOnFirstCheck(async () => (await import("./kinds/ping.ts")).checkPing),
  dns: loadOnFirstCheck(async () => (await import("./kinds/dns.ts")).checkDns),
  tls: loadOnFirstCheck(async () => (await import("./kinds/tls.ts")).checkTls),
  smtp: loadOnFirstCheck(async () => (await import("./kinds/smtp.ts")).checkSmtp),
  imap: loadOnFirstCheck(async () => (await import("./kinds/imap.ts")).checkImap),
  pop3: loadOnFirstCheck(async () => (await import("./kinds/pop3.ts")).checkPop3),
  ssh: loadOnFirstCheck(async () => (await import("./kinds/ssh.ts")).checkSsh),
  mqtt: loadOnFirstCheck(async () => (await import("./kinds/mqtt.ts")).checkMqtt),
  redis: loadOnFirstCheck(async () => (await import("./kinds/redis.ts")).checkRedis),
  postgres: loadOnFirstCheck(async () => (await import("./kinds/sql.ts")).checkPostgres),
  mysql: loadOnFirstCheck(async () => (await import("./kinds/sql.ts")).checkMysql),
  mongodb: loadOnFirstCheck(async () => (await import("./kinds/mongodb.ts")).checkMongodb),
  mssql: loadOnFirstCheck(async () => (await import("./kinds/mssql.ts")).checkMssql),
  kafka: loadOnFirstCheck(async () => (await import("./kinds/kafka.ts")).checkKafka),
  rabbitmq: loadOnFirstCheck(async () => (await import("./kinds/rabbitmq.ts")).checkRabbitmq),
  ldap: loadOnFirstCheck(async () => (await import("./kinds/ldap.ts")).checkLdap),
  sip: loadOnFirstCheck(async () => (await import("./kinds/sip.ts")).checkSip),
  websocket: loadOnFirstCheck(async () => (await import("./kinds/websocket.ts")).checkWebsocket),
  grpc: loadOnFirstCheck(async () => (await import("./kinds/grpc.ts")).checkGrpc),
  docker: loadOnFirstCheck(async () => (await import("./kinds/docker.ts")).checkDocker),
  snmp: loadOnFirstCheck(async () => (await import("./kinds/snmp.ts")).checkSnmp),
  radius: loadOnFirstCheck(async () => (await import("./kinds/radius.ts")).checkRadius),
  ntp: loadOnFirstCheck(async () => (await import("./kinds/ntp.ts")).checkNtp),
  domain: loadOnFirstCheck(async () => (await import("./kinds/domain.ts")).checkDomain),
  game: loadOnFirstCheck(async () => (await import("./kinds/game.ts")).checkGame),
  command: loadOnFirstCheck(async () => (await import("./kinds/command.ts")).checkCommand),
  systemd: loadOnFirstCheck(async () => (await import("./kinds/systemd.ts")).checkSystemd),
  browser: loadOnFirstCheck(async () => (await import("./kinds/browser.ts")).checkBrowser),
  composite: loadOnFirstCheck(async () => (await import("./kinds/composite.ts")).checkComposite),
  statuspage: loadOnFirstCheck(async () => (await import("./kinds/statuspage.ts")).checkStatuspage),
  manual: loadOnFirstCheck(async () => (await import("./kinds/manual.ts")).checkManual),
};

/** Returns a check that loads its module when it first runs, because most appliances use few types. */
function loadOnFirstCheck<T extends MonitorType>(load: () => Promise<CheckKind<T>>): CheckKind<T> {
  const check = createOnFirstUse(load);
  return (settings, context) =>
    check.current?.(settings, context) ?? check.get().then((run) => run(settings, context));
}
