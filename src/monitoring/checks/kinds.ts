import type { MonitorType } from "../monitors/kinds-schema.ts";
import type { CheckKind } from "./check.ts";
import { checkBrowser } from "./kinds/browser.ts";
import { checkCommand } from "./kinds/command.ts";
import { checkComposite } from "./kinds/composite.ts";
import { checkDns } from "./kinds/dns.ts";
import { checkDocker } from "./kinds/docker.ts";
import { checkDomain } from "./kinds/domain.ts";
import { checkGame } from "./kinds/game.ts";
import { checkGrpc } from "./kinds/grpc.ts";
import { checkHttp } from "./kinds/http.ts";
import { checkImap } from "./kinds/imap.ts";
import { checkKafka } from "./kinds/kafka.ts";
import { checkLdap } from "./kinds/ldap.ts";
import { checkManual } from "./kinds/manual.ts";
import { checkMongodb } from "./kinds/mongodb.ts";
import { checkMqtt } from "./kinds/mqtt.ts";
import { checkMssql } from "./kinds/mssql.ts";
import { checkNtp } from "./kinds/ntp.ts";
import { checkPing } from "./kinds/ping.ts";
import { checkPop3 } from "./kinds/pop3.ts";
import { checkMysql, checkPostgres } from "./kinds/sql.ts";
import { checkRabbitmq } from "./kinds/rabbitmq.ts";
import { checkRedis } from "./kinds/redis.ts";
import { checkRadius } from "./kinds/radius.ts";
import { checkSip } from "./kinds/sip.ts";
import { checkSmtp } from "./kinds/smtp.ts";
import { checkSnmp } from "./kinds/snmp.ts";
import { checkSsh } from "./kinds/ssh.ts";
import { checkStatuspage } from "./kinds/statuspage.ts";
import { checkSystemd } from "./kinds/systemd.ts";
import { checkWebsocket } from "./kinds/websocket.ts";
import { checkTcp } from "./kinds/tcp.ts";
import { checkTls } from "./kinds/tls.ts";

/** Check of each monitor type. A push monitor has none: its job sends reports. */
export const checkKinds: { [T in Exclude<MonitorType, "push">]: CheckKind<T> } = {
  http: checkHttp,
  tcp: checkTcp,
  ping: checkPing,
  dns: checkDns,
  tls: checkTls,
  smtp: checkSmtp,
  imap: checkImap,
  pop3: checkPop3,
  ssh: checkSsh,
  mqtt: checkMqtt,
  redis: checkRedis,
  postgres: checkPostgres,
  mysql: checkMysql,
  mongodb: checkMongodb,
  mssql: checkMssql,
  kafka: checkKafka,
  rabbitmq: checkRabbitmq,
  ldap: checkLdap,
  sip: checkSip,
  websocket: checkWebsocket,
  grpc: checkGrpc,
  docker: checkDocker,
  snmp: checkSnmp,
  radius: checkRadius,
  ntp: checkNtp,
  domain: checkDomain,
  game: checkGame,
  command: checkCommand,
  systemd: checkSystemd,
  browser: checkBrowser,
  composite: checkComposite,
  statuspage: checkStatuspage,
  manual: checkManual,
};
