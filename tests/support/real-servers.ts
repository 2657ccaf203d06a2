/** Real mail, SSH and MQTT servers of this machine, configured for tests. */
import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { getFreePort } from "./binary.ts";
import { writeCertificates } from "./certificates.ts";
import { hasPrograms, createFolder, runOrThrow, startProgram } from "./real-targets.ts";

const [user = "", group = ""] = ["-un", "-gn"].map((what) =>
  Bun.spawnSync(["id", what]).stdout.toString().trim(),
);

/** Exim with TLS and one user, `probe`, who can only sign in over TLS. */
export async function startExim(password: string) {
  const [plainPort, securePort, folder] = [getFreePort(), getFreePort(), createFolder()];
  writeCertificates(folder);
  // It drops root's rights before it reads the key and writes its log.
  chmodSync(folder, 0o777);
  chmodSync(join(folder, "good.key"), 0o644);
  const config = `
    exim_path = /usr/sbin/exim4
    primary_hostname = mail.test
    spool_directory = ${folder}/spool
    log_file_path = ${folder}/%slog
    pid_file_path = ${folder}/pid
    daemon_smtp_ports = ${plainPort} : ${securePort}
    local_interfaces = 127.0.0.1
    tls_on_connect_ports = ${securePort}
    tls_advertise_hosts = *
    tls_certificate = ${folder}/good.pem
    tls_privatekey = ${folder}/good.key
    auth_advertise_hosts = \${if eq{$tls_in_cipher}{}{}{*}}
    rfc1413_query_timeout = 0s
    host_lookup =
    keep_environment =
    acl_smtp_rcpt = deny
    begin authenticators
    plain:
      driver = plaintext
      public_name = PLAIN
      server_condition = \${if and{{eq{$auth2}{probe}}{eq{$auth3}{${password}}}}}
  `;
  writeFileSync(join(folder, "exim.conf"), config.replaceAll(/^ {4}/gm, ""));
  const args = ["-bdf", "-C", join(folder, "exim.conf")];
  const stop = await startProgram({ program: "exim4", args, folder }, [plainPort, securePort]);
  return { plainPort, securePort, [Symbol.asyncDispose]: stop };
}

/** Whether Dovecot is version 2.3; version 2.4 renamed its settings. */
export const isDovecot23 = () =>
  hasPrograms("dovecot") &&
  Bun.spawnSync(["dovecot", "--version"], { env: { PATH: "/usr/sbin:/usr/bin" } })
    .stdout.toString()
    .startsWith("2.3.");

/** Dovecot with TLS, IMAP and POP3, and one user, `probe`; loopback is secure enough for it. */
export async function startDovecot(password: string) {
  const ports = {
    imap: getFreePort(),
    imaps: getFreePort(),
    pop3: getFreePort(),
    pop3s: getFreePort(),
  };
  const folder = createFolder();
  writeCertificates(folder);
  chmodSync(folder, 0o755);
  mkdirSync(join(folder, "mail"));
  chmodSync(join(folder, "mail"), 0o777);
  // As root, its login and user processes need other accounts.
  const [other, otherGroup] = user === "root" ? ["nobody", "nogroup"] : [user, group];
  const buildLogin = (name: string, plain: number, secure: number) => `
    service ${name}-login {
      chroot =
      inet_listener ${name} {
        port = ${plain}
      }
      inet_listener ${name}s {
        port = ${secure}
        ssl = yes
      }
    }`;
  const config = `
    base_dir = ${folder}/run
    state_dir = ${folder}/state
    log_path = /dev/stderr
    protocols = imap pop3
    listen = 127.0.0.1
    ssl = required
    ssl_cert = <${folder}/good.pem
    ssl_key = <${folder}/good.key
    default_internal_user = ${user}
    default_internal_group = ${group}
    default_login_user = ${other}
    first_valid_uid = 0
    first_valid_gid = 0
    auth_failure_delay = 0
    mail_location = maildir:${folder}/mail
    service anvil {
      chroot =
      unix_listener anvil-auth-penalty {
        mode = 0
      }
    }
    ${buildLogin("imap", ports.imap, ports.imaps)}
    ${buildLogin("pop3", ports.pop3, ports.pop3s)}
    passdb {
      driver = passwd-file
      args = scheme=PLAIN ${folder}/users
    }
    userdb {
      driver = static
      args = uid=${other} gid=${otherGroup} home=${folder}/mail
    }
  `;
  writeFileSync(join(folder, "users"), `probe:${password}\n`);
  writeFileSync(join(folder, "dovecot.conf"), config);
  const args = ["-F", "-c", join(folder, "dovecot.conf")];
  const stop = await startProgram({ program: "dovecot", args, folder }, Object.values(ports));
  return { ...ports, [Symbol.asyncDispose]: stop };
}

type HostKeyType = "ed25519" | "ecdsa" | "rsa";

const hostKeys = new Map<HostKeyType, { type: HostKeyType; key: Buffer; fingerprint: string }>();

/** Created once, because an RSA key is slow. */
function getHostKey(type: HostKeyType) {
  const known = hostKeys.get(type);
  if (known !== undefined) return known;
  const folder = createFolder();
  const bits = type === "rsa" ? ["-b", "2048"] : [];
  runOrThrow(["ssh-keygen", "-q", "-N", "", "-t", type, ...bits, "-f", "key"], folder);
  const output = Bun.spawnSync(["ssh-keygen", "-lf", "key"], { cwd: folder }).stdout.toString();
  const key = readFileSync(join(folder, "key"));
  const hostKey = { type, key, fingerprint: output.split(" ")[1] ?? "" };
  rmSync(folder, { recursive: true });
  hostKeys.set(type, hostKey);
  return hostKey;
}

/** OpenSSH's server with one key of each of these types, and the fingerprint of the last. */
export async function startSshServer(
  types: readonly HostKeyType[],
  settings: Readonly<Record<string, string>> = {},
) {
  const [port, folder] = [getFreePort(), createFolder()];
  // Required when it runs as root.
  if (process.getuid?.() === 0) mkdirSync("/run/sshd", { recursive: true, mode: 0o755 });
  const keys = types.map(getHostKey);
  for (const { type, key } of keys) writeFileSync(join(folder, type), key, { mode: 0o600 });
  const config = {
    ListenAddress: `127.0.0.1:${port}`,
    PidFile: "none",
    UsePAM: "no",
    ...settings,
  };
  const lines = [
    ...Object.entries(config).map(([name, value]) => `${name} ${value}`),
    ...types.map((type) => `HostKey "${join(folder, type)}"`),
  ];
  writeFileSync(join(folder, "sshd.conf"), lines.join("\n"));
  const args = ["-D", "-e", "-f", join(folder, "sshd.conf")];
  const stop = await startProgram({ program: "sshd", args, folder }, [port]);
  return { port, fingerprint: keys.at(-1)?.fingerprint ?? "", [Symbol.asyncDispose]: stop };
}

/** rsyslog that writes what it receives over UDP and TCP to a file. */
export async function startRsyslog() {
  const [port, folder] = [getFreePort(), createFolder()];
  const config = `
    global(workDirectory="${folder}")
    module(load="imudp")
    module(load="imtcp")
    input(type="imudp" address="127.0.0.1" port="${port}")
    input(type="imtcp" address="127.0.0.1" port="${port}")
    template(name="fields" type="string" string="%pri%|%hostname%|%app-name%|%msgid%|%structured-data%|%msg%\\n")
    action(type="omfile" file="${folder}/lines" template="fields")
  `;
  writeFileSync(join(folder, "rsyslog.conf"), config.replaceAll(/^ +/gm, ""));
  const args = ["-n", "-f", join(folder, "rsyslog.conf"), "-i", join(folder, "pid")];
  const stop = await startProgram({ program: "rsyslogd", args, folder }, [port]);
  return { port, lines: join(folder, "lines"), [Symbol.asyncDispose]: stop };
}

/** Mosquitto with TLS and one user, `probe`, who can read its status topics, and use `alerts/#`. */
export async function startMosquitto(password: string) {
  const [port, securePort, folder] = [getFreePort(), getFreePort(), createFolder()];
  writeCertificates(folder);
  runOrThrow(["mosquitto_passwd", "-c", "-b", "users", "probe", password], folder);
  writeFileSync(
    join(folder, "rights"),
    "user probe\ntopic read $SYS/#\ntopic readwrite alerts/#\n",
  );
  const config = `
    listener ${port} 127.0.0.1
    listener ${securePort} 127.0.0.1
    certfile ${folder}/good.pem
    keyfile ${folder}/good.key
    per_listener_settings false
    allow_anonymous false
    password_file ${folder}/users
    acl_file ${folder}/rights
    user ${user}
  `;
  writeFileSync(join(folder, "mosquitto.conf"), config.replaceAll(/^ +/gm, ""));
  const args = ["-c", join(folder, "mosquitto.conf")];
  const stop = await startProgram({ program: "mosquitto", args, folder }, [port, securePort]);
  return { port, securePort, [Symbol.asyncDispose]: stop };
}
