/** Records with every secret of a type, for tests that secrets stay with their address. */
import { canary, clientCertificate, clientKey, newChannels, newMonitors } from "./samples.ts";

type SecretFields = Record<string, unknown>;

/** Fields of a channel type with all its secrets: one record per allowed combination. */
export const listChannelHomes = (type: string): SecretFields[] => {
  const { instead, ...first } = newChannels[type] ?? { secrets: {}, others: {} };
  return [first, ...(instead ? [instead] : [])].map(({ secrets, others }) => ({
    ...others,
    ...secrets,
    ...(["webhook", "sms", "voice"].includes(type) && headers),
  }));
};
const headers = { headers: { "X-Api-Key": canary } };
export const buildHttpHome = (url: string): SecretFields => ({
  url,
  connectTo: null,
  proxyUrl: null,
  bearerToken: canary,
  basicAuth: { username: "probe", password: canary },
  oauth2: {
    tokenUrl: new URL("/token", url).href,
    clientId: "probe",
    clientSecret: canary,
    clientAuthentication: "header",
  },
  clientCertificate,
  clientKey,
  variables: { token: canary },
  ...headers,
});
/** An http monitor with every possible secret, direct and through a proxy. */
export const listHttpHomes = (url: string): SecretFields[] => [
  buildHttpHome(url),
  {
    url,
    connectTo: null,
    proxyUrl: new URL(url).origin,
    proxyUsername: "probe",
    proxyPassword: canary,
  },
];

/** Fields of a monitor type with all its secrets, for a target at this host and port. */
export function listMonitorHomes(type: string, host: string, port: number): SecretFields[] {
  const url = `http://${host}:${port}/`;
  if (type === "http") return listHttpHomes(url);
  const address = { ...newMonitors[type as keyof typeof newMonitors], host, port };
  const login = { username: "probe", password: canary };
  const ownHomes: Record<string, SecretFields | SecretFields[]> = {
    websocket: { url: url.replace("http:", "ws:"), ...headers },
    browser: { url, ...login, steps: ["fill #u with {{username}}", "fill #p with {{password}}"] },
    docker: { ...address, container: "web", clientCertificate, clientKey },
    radius: { ...address, ...login, secret: canary },
    snmp: [
      { ...address, community: canary },
      {
        ...address,
        snmpVersion: "3",
        username: "probe",
        authPassword: canary,
        privPassword: canary,
      },
    ],
  };
  return [ownHomes[type] ?? { ...address, ...login }].flat();
}
