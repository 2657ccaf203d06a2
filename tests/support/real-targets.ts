/** Real programs of this machine as targets: web, DNS, S3, SQL, SNMP and RADIUS servers. */
import { test } from "bun:test";
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { networkInterfaces, tmpdir } from "node:os";
import { join } from "node:path";
import { getFreePort } from "./binary.ts";
import { certificates, writeCertificates } from "./certificates.ts";
import { dialPort } from "./raw-connection.ts";
import { waitUntil } from "./poll.ts";

/** The Debian package of each program. */
export const packages = {
  age: "age",
  "chromium-headless-shell": "chromium-headless-shell",
  curl: "curl",
  nginx: "nginx",
  caddy: "caddy",
  haproxy: "haproxy",
  dnsmasq: "dnsmasq",
  "redis-server": "redis-server",
  postgres: "postgresql",
  initdb: "postgresql",
  mariadbd: "mariadb-server",
  snmpd: "snmpd",
  freeradius: "freeradius",
  exim4: "exim4-daemon-light",
  "imap-login": "dovecot-imapd",
  "pop3-login": "dovecot-pop3d",
  dovecot: "dovecot-core",
  sshd: "openssh-server",
  mosquitto: "mosquitto",
  "mariadb-install-db": "mariadb-server",
  ping: "iputils-ping",
  openssl: "openssl",
  ip: "iproute2",
  prometheus: "prometheus",
  promtool: "prometheus",
  strace: "strace",
  moto_server: "python3-moto",
  "systemd-analyze": "systemd",
  plistutil: "libplist-utils",
  socat: "socat",
  "ssh-keygen": "openssh-client",
  "mkfs.ext4": "e2fsprogs",
  losetup: "mount",
  mount: "mount",
  prlimit: "util-linux",
  faketime: "faketime",
  zsh: "zsh",
  fish: "fish",
  tinyproxy: "tinyproxy-bin",
  stunnel: "stunnel4",
  unbound: "unbound",
  microsocks: "microsocks",
  rsyslogd: "rsyslog",
  "dpkg-deb": "dpkg",
  rpm: "rpm",
  rpmbuild: "rpm",
} as const;

export type Program = keyof typeof packages;

export const programs = Object.keys(packages) as Program[];

// Debian installs servers in a folder that is not in a user's PATH.
const findProgram = (program: Program) =>
  Bun.which(program, {
    PATH: `${process.env["PATH"] ?? ""}:/usr/sbin:/sbin:/usr/lib/dovecot:${findPostgresFolder()}`,
  });

/** Debian has one folder per version. */
const findPostgresFolder = () =>
  [...new Bun.Glob("/usr/lib/postgresql/*/bin/initdb").scanSync("/")]
    .at(-1)
    ?.replace("initdb", "") ?? "";

/** Whether all of these programs are on this machine. */
export const hasPrograms = (...needed: Program[]): boolean =>
  needed.every((program) => findProgram(program) !== null);

type Requirement = Program | "root" | "network";
const reported = new Set<Requirement>();

function isMet(requirement: Requirement): boolean {
  if (requirement === "root") return process.getuid?.() === 0;
  return requirement === "network" ? hasNetwork() : hasPrograms(requirement);
}

/** Whether an interface other than loopback is up: without one, checks are not judged. */
export const hasNetwork = () =>
  Object.values(networkInterfaces()).some((list) => list?.some(({ internal }) => !internal));

/** Defines a test that needs these programs, root's rights or a network interface. Without one of them it is skipped with a warning. */
export function defineTestWith(
  needed: readonly Requirement[],
  name: string,
  run: () => void | Promise<unknown>,
  timeoutMs = 240_000,
) {
  const missing = needed.filter((each) => !isMet(each));
  for (const each of missing.filter((one) => !reported.has(one))) {
    reported.add(each);
    const advice =
      each === "root"
        ? "run it as root"
        : each === "network"
          ? "connect this machine to one; none is reached"
          : `apt-get install ${packages[each]}`;
    console.warn(`\nNOT TESTED: tests that need ${each}; ${advice}\n`);
  }
  if (missing.length > 0) test.skip(name, run);
  else test(name, run, timeoutMs);
}

type Command = {
  program: Program;
  args: readonly string[];
  folder: string;
  /** A command that runs it as another user. */
  as?: readonly string[];
  /** The output that shows that it serves requests. */
  isReady?: string;
  env?: Readonly<Record<string, string>>;
};

export const createFolder = () => mkdtempSync(join(tmpdir(), "signalbox-target-"));

/** Starts a program in a separate folder and waits until all its ports accept connections. */
export async function startProgram(
  { program, args, folder, as = [], isReady = "", env: own }: Command,
  ports: readonly number[],
) {
  const log = join(folder, "output.log");
  const output = openSync(log, "a");
  const command = [...as, findProgram(program) ?? program, ...args];
  // Some programs write files to the home directory.
  const env = { ...process.env, LC_ALL: "C", HOME: folder, XDG_CONFIG_HOME: folder, ...own };
  const child = Bun.spawn(command, { cwd: folder, env, stdio: ["ignore", output, output] });
  closeSync(output);
  const stop = async () => {
    child.kill("SIGKILL");
    await child.exited;
    rmSync(folder, { recursive: true, force: true });
  };
  const isAnswering = (port: number) =>
    dialPort(port).then(
      (line) => {
        line.hangUp();
        return true;
      },
      () => false,
    );
  try {
    for (const port of ports)
      while (!((await isAnswering(port)) && readFileSync(log, "utf8").includes(isReady))) {
        const ended = child.exitCode ?? child.signalCode;
        if (ended !== null)
          throw new Error(`${program} ended with ${ended}: ${readFileSync(log, "utf8")}`);
        await Bun.sleep(5);
      }
  } catch (error) {
    await stop();
    throw error;
  }
  return stop;
}

const routes = `
  default_type text/plain;
  location = / { return 200 "Welcome"; }
  location = /json {
    default_type application/json;
    return 200 '{"status":"ok","items":[{"n":1}]}';
  }
  location = /moved { return 301 /; }
  location = /missing { return 404; }
  location = /gzip {
    gzip on;
    gzip_types text/plain;
    return 200 "${"compressed ".repeat(200)}";
  }
`;

const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];

/** The nginx configuration for these servers, in its own folder and in the foreground. */
export const buildNginxConfig = (servers: string) => `
  daemon off;
  master_process off;
  pid nginx.pid;
  error_log stderr;
  events {}
  http {
    access_log off;
    ${temporary.map((kind) => `${kind}_temp_path ${kind};`).join(" ")}
    ${servers}
  }
`;

/** nginx over http, and over https with valid and with faulty certificates. */
export async function startNginx() {
  const folder = createFolder();
  writeCertificates(folder);
  const [httpPort, ...securePorts] = [getFreePort(), ...certificates.map(getFreePort)];
  const [goodPort = 0, selfSignedPort = 0, expiredPort = 0, wrongNamePort = 0] = securePorts;
  const secure = certificates.map(
    (name, index) => `server {
      listen 127.0.0.1:${securePorts[index]} ssl;
      ssl_certificate ${name}.pem;
      ssl_certificate_key ${name}.key;
      ${routes}
    }`,
  );
  const conf = buildNginxConfig(`
    server { listen 127.0.0.1:${httpPort}; ${routes} }
    ${secure.join("\n")}
  `);
  writeFileSync(join(folder, "nginx.conf"), conf);
  const args = ["-p", folder, "-c", "nginx.conf", "-e", "stderr"];
  const stop = await startProgram({ program: "nginx", args, folder }, [httpPort, ...securePorts]);
  return {
    httpPort,
    goodPort,
    selfSignedPort,
    expiredPort,
    wrongNamePort,
    /** The authority of every certificate except the self-signed one. */
    ca: join(folder, "authority.pem"),
    [Symbol.asyncDispose]: stop,
  };
}

/** The records of `dnsmasq()` in zone file notation. */
export const zone = {
  A: { host: "signalbox.test", values: ["192.0.2.1", "192.0.2.2"] },
  AAAA: { host: "signalbox.test", values: ["2001:db8::1"] },
  CNAME: { host: "www.signalbox.test", values: ["signalbox.test"] },
  MX: { host: "signalbox.test", values: ["10 mx1.signalbox.test", "20 mx2.signalbox.test"] },
  NS: { host: "signalbox.test", values: ["ns1.signalbox.test"] },
  TXT: { host: "signalbox.test", values: ["v=spf1 ip4:192.0.2.1 -all"] },
  SRV: { host: "_sip._tcp.signalbox.test", values: ["10 20 5060 sip.signalbox.test"] },
  CAA: { host: "signalbox.test", values: ['0 issue "ca.test"'] },
  PTR: { host: "1.2.0.192.in-addr.arpa", values: ["signalbox.test"] },
  SOA: {
    host: "signalbox.test",
    values: ["ns1.signalbox.test hostmaster.signalbox.test 2026112701 3600 600 604800 300"],
  },
};

// dnsmasq has no option for NS (type 2) and SOA (type 6), but one for records in wire format.
const encodeName = (name: string) =>
  Buffer.from(
    `${name
      .split(".")
      .map((label) => String.fromCharCode(label.length) + label)
      .join("")}\0`,
  );
const startOfAuthority = Buffer.concat([
  encodeName("ns1.signalbox.test"),
  encodeName("hostmaster.signalbox.test"),
  Buffer.from(Uint32Array.of(2026112701, 3600, 600, 604800, 300).buffer).swap32(),
]);

const records = [
  "--host-record=signalbox.test,192.0.2.1,2001:db8::1",
  "--host-record=signalbox.test,192.0.2.2",
  "--cname=www.signalbox.test,signalbox.test",
  "--mx-host=signalbox.test,mx1.signalbox.test,10",
  "--mx-host=signalbox.test,mx2.signalbox.test,20",
  `--dns-rr=signalbox.test,2,${encodeName("ns1.signalbox.test").toString("hex")}`,
  `--dns-rr=signalbox.test,6,${startOfAuthority.toString("hex")}`,
  "--txt-record=signalbox.test,v=spf1 ip4:192.0.2.1, -all",
  "--srv-host=_sip._tcp.signalbox.test,sip.signalbox.test,5060,10,20",
  "--caa-record=signalbox.test,0,issue,ca.test",
];

/** A name server with only the zone and these additional records. */
export async function startDnsmasq(...more: string[]) {
  const port = getFreePort();
  const baseArguments = [`--port=${port}`, "--listen-address=127.0.0.1", "--bind-interfaces"];
  const alone = [
    "--no-daemon",
    "--conf-file=/dev/null",
    "--no-resolv",
    "--no-hosts",
    "--local=/#/",
  ];
  const args = [...baseArguments, ...alone, ...records, ...more];
  const stop = await startProgram({ program: "dnsmasq", args, folder: createFolder() }, [port]);
  return { port, [Symbol.asyncDispose]: stop };
}

/** unbound with the records of `zone`, over plain DNS, TLS and HTTPS, and the authority of its certificate. */
export async function startUnbound() {
  const [port, tlsPort, httpsPort, folder] = [
    getFreePort(),
    getFreePort(),
    getFreePort(),
    createFolder(),
  ];
  writeCertificates(folder);
  const data = Object.entries(zone).flatMap(([type, { host, values }]) =>
    values.map(
      (value) => `local-data: '${host}. 300 IN ${type} ${type === "TXT" ? `"${value}"` : value}'`,
    ),
  );
  const settings = [
    "server:",
    ...[port, tlsPort, httpsPort].map((each) => `interface: 127.0.0.1@${each}`),
    `tls-port: ${tlsPort}`,
    `https-port: ${httpsPort}`,
    "tls-service-key: good.key",
    "tls-service-pem: good.pem",
    'username: ""',
    'chroot: ""',
    'pidfile: ""',
    'directory: "."',
    "use-syslog: no",
    'module-config: "iterator"',
    "local-zone: signalbox.test. static",
    "local-zone: 2.0.192.in-addr.arpa. static",
    ...data,
  ];
  writeFileSync(join(folder, "unbound.conf"), settings.join("\n"));
  const authority = readFileSync(join(folder, "authority.pem"), "utf8");
  const command = { program: "unbound", args: ["-d", "-c", "unbound.conf"], folder } as const;
  const stop = await startProgram(command, [port, tlsPort, httpsPort]);
  return { port, tlsPort, httpsPort, authority, [Symbol.asyncDispose]: stop };
}

/** A name server that answers no query. */
export async function startSilentNameServer() {
  const socket = await Bun.udpSocket({ hostname: "127.0.0.1" });
  return { port: socket.port, [Symbol.asyncDispose]: async () => socket.close() };
}

export async function startRedisServer(...options: readonly string[]) {
  const port = getFreePort();
  const args = ["--port", String(port), "--bind", "127.0.0.1", "--save", "", ...options];
  const stop = await startProgram({ program: "redis-server", args, folder: createFolder() }, [
    port,
  ]);
  return { port, [Symbol.asyncDispose]: stop };
}

/** An S3 service with one bucket. */
export async function startBucketService(bucket: string) {
  const port = getFreePort();
  const args = ["-H", "127.0.0.1", "-p", String(port)];
  const stop = await startProgram({ program: "moto_server", args, folder: createFolder() }, [port]);
  const endpoint = `http://127.0.0.1:${port}`;
  const credentials = { accessKeyId: "backup", secretAccessKey: "a-secret-access-key" };
  const created = await fetch(`${endpoint}/${bucket}`, {
    method: "PUT",
    headers: {
      Authorization: "AWS4-HMAC-SHA256 Credential=backup/20260101/us-east-1/s3/aws4_request",
    },
  });
  if (!created.ok) throw new Error(`The bucket could not be made: ${created.status}`);
  const client = new Bun.S3Client({ endpoint, bucket, region: "us-east-1", ...credentials });
  return { endpoint, bucket, ...credentials, client, [Symbol.asyncDispose]: stop };
}

/** The user for servers that refuse to run as root. */
const buildUserCommand = (user: string) =>
  process.getuid?.() === 0 ? ["runuser", "-u", user, "--"] : [];

export const runOrThrow = (command: string[], cwd: string) => {
  const { exitCode, stderr } = Bun.spawnSync(command, { cwd, stdin: "ignore" });
  if (exitCode !== 0) throw new Error(`${command.join(" ")}: ${stderr.toString()}`);
};

/** PostgreSQL with TLS and one user, `probe`, who signs in with a password by SCRAM. */
export async function startPostgresServer(password: string) {
  const [port, folder] = [getFreePort(), createFolder()];
  writeCertificates(folder);
  writeFileSync(join(folder, "password"), password);
  const user = buildUserCommand("postgres");
  if (user.length > 0) runOrThrow(["chown", "-R", "postgres", folder], folder);
  const init = [
    "-D",
    "data",
    "-A",
    "scram-sha-256",
    "--pwfile=password",
    "-U",
    "probe",
    "--no-sync",
  ];
  // The terminal's locale can be missing on this machine.
  runOrThrow(["env", "LC_ALL=C", ...user, findProgram("initdb") ?? "", ...init], folder);
  runOrThrow([...user, "cp", "good.pem", "good.key", "data"], folder);
  runOrThrow([...user, "chmod", "600", "data/good.key"], folder);
  const settings = ["ssl=on", "ssl_cert_file=good.pem", "ssl_key_file=good.key", "fsync=off"];
  const args = ["-D", "data", "-p", `${port}`, "-h", "127.0.0.1", "-k", folder];
  const stop = await startProgram(
    {
      program: "postgres",
      as: user,
      isReady: "ready to accept connections",
      args: [...args, ...settings.flatMap((one) => ["-c", one])],
      folder,
    },
    [port],
  );
  return { port, [Symbol.asyncDispose]: stop };
}

/** MariaDB with TLS and one user, `probe`, and a database, `shop`. */
export async function startMariadbServer(password: string) {
  const [port, folder] = [getFreePort(), createFolder()];
  writeCertificates(folder);
  const isRoot = process.getuid?.() === 0;
  if (isRoot) runOrThrow(["chown", "-R", "mysql", folder], folder);
  const user = isRoot ? ["--user=mysql"] : [];
  const data = `--datadir=${folder}/data`;
  runOrThrow(
    [
      findProgram("mariadb-install-db") ?? "",
      "--no-defaults",
      data,
      "--auth-root-authentication-method=normal",
      ...user,
    ],
    folder,
  );
  const setUp = [
    `CREATE USER probe@'127.0.0.1' IDENTIFIED BY '${password}';`,
    "CREATE DATABASE shop;",
    "GRANT ALL ON shop.* TO probe@'127.0.0.1';",
  ];
  writeFileSync(join(folder, "set-up.sql"), setUp.join("\n"));
  if (isRoot) runOrThrow(["chown", "mysql", "set-up.sql"], folder);
  const files = [
    `--socket=${folder}/socket`,
    `--pid-file=${folder}/pid`,
    `--tmpdir=${folder}`,
    `--init-file=${folder}/set-up.sql`,
  ];
  const tls = [`--ssl-cert=${folder}/good.pem`, `--ssl-key=${folder}/good.key`];
  const args = [
    "--no-defaults",
    data,
    `--port=${port}`,
    "--bind-address=127.0.0.1",
    ...files,
    ...tls,
    ...user,
  ];
  const stop = await startProgram({ program: "mariadbd", args, folder }, [port]);
  return { port, [Symbol.asyncDispose]: stop };
}

/** Resolves when a program listens on a UDP port (proc(5)). */
async function waitUntilBound(port: number) {
  const portColumn = `:${port.toString(16).toUpperCase().padStart(4, "0")} `;
  await waitUntil(() => readFileSync("/proc/net/udp", "utf8").includes(portColumn));
}

/** An agent with a community, and a user `probe` with both passwords. */
export async function startSnmpAgent(
  community: string,
  authPassword: string,
  privPassword: string,
) {
  const [port, folder] = [getFreePort(), createFolder()];
  const settings = [
    `rocommunity ${community} 127.0.0.1`,
    `createUser probe SHA-256 "${authPassword}" AES "${privPassword}"`,
    "rouser probe priv",
    "sysName core-switch",
    `agentaddress udp:127.0.0.1:${port}`,
  ];
  writeFileSync(join(folder, "snmpd.conf"), settings.join("\n"));
  const args = ["-f", "-Lo", "-C", "-c", "snmpd.conf", "-p", "pid"];
  const env = { SNMP_PERSISTENT_DIR: folder };
  const stop = await startProgram({ program: "snmpd", args, folder, env }, []);
  await waitUntilBound(port);
  return { port, [Symbol.asyncDispose]: stop };
}

/** FreeRADIUS with one client, this machine, and one user, `probe`. */
export async function startRadiusServer(secret: string, password: string) {
  const [port, folder] = [getFreePort(), createFolder()];
  const config = `
    prefix = /usr
    logdir = "${folder}"
    raddbdir = "${folder}"
    run_dir = "${folder}"
    pidfile = "${folder}/pid"
    libdir = /usr/lib/freeradius
    client localhost {
      ipaddr = 127.0.0.1
      secret = ${secret}
    }
    modules {
      pap {
      }
      files {
        usersfile = "${folder}/users"
      }
    }
    server default {
      listen {
        type = auth
        ipaddr = 127.0.0.1
        port = ${port}
      }
      authorize {
        files
        pap
      }
      authenticate {
        Auth-Type PAP {
          pap
        }
      }
    }
  `;
  writeFileSync(join(folder, "radiusd.conf"), config);
  writeFileSync(join(folder, "users"), `probe Cleartext-Password := "${password}"\n`);
  const args = ["-f", "-l", "stdout", "-d", folder, "-n", "radiusd", "-D", "/usr/share/freeradius"];
  const stop = await startProgram({ program: "freeradius", args, folder }, []);
  await waitUntilBound(port);
  return { port, [Symbol.asyncDispose]: stop };
}

/** OpenSSL's server, which returns facts about the connection over TLS. */
export async function startOpensslServer(more: readonly string[]) {
  const [port, folder] = [getFreePort(), createFolder()];
  writeCertificates(folder);
  const files = ["-cert", "good.pem", "-key", "good.key", "-CAfile", "authority.pem"];
  const args = ["s_server", "-www", "-accept", `127.0.0.1:${port}`, ...files, ...more];
  const stop = await startProgram({ program: "openssl", args, folder }, [port]);
  return { url: `https://localhost:${port}/`, [Symbol.asyncDispose]: stop };
}
