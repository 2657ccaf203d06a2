import { type ChangeEvent, useEffect, useRef, useState } from "react";
import { flushSync } from "react-dom";
import { ApiError } from "../../data/client.ts";
import { drafts, type DraftValues } from "../../data/drafts.ts";
import { provisionalId } from "../../data/record.ts";
import { notify } from "../toasts.tsx";

export type Values = Record<string, unknown>;
type Issue = { path: string; message: string };

/** How a form stands: what was typed, what the server said of it, whether it is being saved. */
export type Form<V extends Values> = {
  values: V;
  set: <K extends keyof V & string>(name: K, value: V[K]) => void;
  replace: (values: V) => void;
  /** Begins anew from what is stored now. */
  reset: (values: V) => void;
  /** The server's words about a field and whatever is inside it. */
  errorOf: (path: string) => string | undefined;
  /** What a field of text is wired with. */
  input: <K extends keyof V & string>(
    name: K,
  ) => {
    value: V[K];
    onChange: (event: ChangeEvent<HTMLInputElement | HTMLTextAreaElement>) => void;
    error: string | undefined;
  };
  /** What a field is wired with that hands over its value. */
  field: <K extends keyof V & string>(
    name: K,
  ) => { value: V[K]; onChange: (value: V[K] | null) => void; error: string | undefined };
  /** What a switch is wired with. */
  toggle: <K extends keyof V & string>(
    name: K,
  ) => {
    checked: boolean;
    onChange: (event: ChangeEvent<HTMLInputElement>) => void;
    error: string | undefined;
  };
  /** Puts what was refused at the fields that it names. */
  fail: (error: unknown) => void;
  clearErrors: () => void;
  /** What was said of no field on the page. */
  rest: string | null;
  busy: boolean;
  dirty: boolean;
  /** What a draft holds stands in the fields. */
  restored: boolean;
  /** Something was typed that is kept as a draft, or would be lost. */
  pending: boolean;
  /** Forgets what was typed. */
  discard: () => void;
  /** Before it forgets that, somebody is asked. */
  asksFirst: boolean;
  conflict: boolean;
  submit: (event?: { preventDefault(): void }) => Promise<void>;
  /** After a 412: save over the other's change, or look at it. */
  settle: (choice: "mine" | "theirs") => void;
};

const within = (path: string, field: string) =>
  path === field || path.startsWith(`${field}.`) || path.startsWith(`${field}[`);

/** What is typed into a form is kept until it is saved, emptied or discarded. */
type Draft = {
  /** Of the form, and of the record that it is about. */
  key: string;
  /** Fields that hold secrets, which are never kept. */
  secrets?: readonly string[];
  /** It outlives the choice of somebody else's change. */
  staysOnConflict?: boolean;
};

/** Where the key is kept under which a draft was sent whose answer has not come. */
const onceOf = ({ key }: Draft) => `${key} once`;

/**
 * A form over the API. `save` sends the values; what it throws stands at the fields. With `force`
 * it must leave out `If-Match`: somebody else's change is overwritten on purpose. `once` is the key under
 * which the server does it once: the same until something else is typed, also after a reload.
 */
export function useForm<V extends Values>(
  initial: V,
  save: (values: V, force: boolean, once: string) => Promise<unknown>,
  onTheirs?: () => void,
  draft?: Draft,
): Form<V> {
  const [start, setStart] = useState(initial);
  const [kept] = useState(() => draft && drafts.read(draft.key));
  const [restored, setRestored] = useState(kept !== undefined);
  const changed = useRef(new Set(Object.keys(kept ?? {})));
  const [values, setValues] = useState<V>({ ...initial, ...kept });
  const [issues, setIssues] = useState<readonly Issue[]>([]);
  const [failure, setFailure] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const [dirty, setDirty] = useState(kept !== undefined);
  const [conflict, setConflict] = useState(false);
  const shown = useRef(new Set<string>());
  const once = useRef(kept && draft && drafts.read(onceOf(draft))?.["key"]);
  const typed: DraftValues = Object.fromEntries(
    [...changed.current].flatMap((name) =>
      isSame(values[name], start[name]) ? [] : [[name, values[name]]],
    ),
  );
  const pending = Object.keys(typed).length > 0;
  const isKept = useRef(false);
  isKept.current = draft !== undefined && pending && !busy;
  const draftKey = draft?.key;
  useEffect(() => {
    if (draft === undefined) return;
    const secrets = new Set(draft.secrets);
    const safe = Object.entries(typed).filter(([name]) => !secrets.has(name));
    drafts.write(draft.key, Object.fromEntries(safe));
  }, [values, draftKey]);
  useEffect(
    () => () => {
      if (isKept.current) notify("What you typed is kept");
    },
    [],
  );

  function setOnce(key: string | undefined) {
    if (once.current === key) return;
    once.current = key;
    if (draft) drafts.write(onceOf(draft), key === undefined ? {} : { key });
  }

  /** From now on there is nothing that was typed and not saved. */
  function settled() {
    setOnce(undefined);
    changed.current.clear();
    isKept.current = false;
    setRestored(false);
    setDirty(false);
    if (draft) drafts.write(draft.key, {});
  }

  function clearErrors() {
    setFailure(null);
    setIssues([]);
  }

  async function run(force: boolean) {
    // What is being saved closes its dialog before this goes on.
    isKept.current = false;
    setBusy(true);
    clearErrors();
    try {
      const key = (once.current as string | undefined) ?? provisionalId();
      setOnce(key);
      await save(values, force, key);
      settled();
      setBusy(false);
    } catch (error) {
      fail(error);
    }
  }

  function fail(error: unknown) {
    // At once, not with some next frame: the field that gets the focus must be marked by then.
    flushSync(() => {
      setBusy(false);
      if (error instanceof ApiError && error.status === 412) setConflict(true);
      else if (error instanceof ApiError && error.details.length > 0) setIssues(error.details);
      else setFailure(error instanceof Error ? error.message : String(error));
    });
    document.querySelector<HTMLElement>("form [aria-invalid=true]")?.focus();
  }

  const unplaced = issues.filter(({ path }) => ![...shown.current].some((f) => within(path, f)));
  function set<K extends keyof V & string>(name: K, value: V[K]) {
    setOnce(undefined);
    setDirty(true);
    changed.current.add(name);
    setValues((current) => ({ ...current, [name]: value }));
    setIssues((current) => current.filter(({ path }) => !within(path, name)));
  }
  function errorOf(path: string) {
    shown.current.add(path);
    const found = issues.find((issue) => within(issue.path, path));
    return found && sentence(found.message);
  }
  return {
    values,
    set,
    replace(next) {
      setOnce(undefined);
      setStart(next);
      setValues(next);
    },
    reset(next) {
      setStart(next);
      setValues(next);
      clearErrors();
      settled();
    },
    restored,
    pending,
    asksFirst: draft !== undefined,
    discard() {
      setValues(start);
      clearErrors();
      settled();
    },
    errorOf,
    input: (name) => ({
      value: values[name],
      onChange: ({ currentTarget }) => set(name, currentTarget.value as V[typeof name]),
      error: errorOf(name),
    }),
    field: (name) => ({
      value: values[name],
      onChange: (value) => set(name, value as V[typeof name]),
      error: errorOf(name),
    }),
    toggle: (name) => ({
      checked: values[name] === true,
      onChange: ({ currentTarget }) => set(name, currentTarget.checked as V[typeof name]),
      error: errorOf(name),
    }),
    fail,
    clearErrors,
    rest: failure ?? (unplaced.map(({ path, message }) => `${path} ${message}.`).join(" ") || null),
    busy,
    dirty,
    conflict,
    async submit(event) {
      event?.preventDefault();
      if (!busy) await run(false);
    },
    settle(choice) {
      setConflict(false);
      if (choice === "mine") return void run(true);
      if (draft?.staysOnConflict !== true) settled();
      onTheirs?.();
    },
  };
}

/** Fields hold what JSON holds; what was never set is as if it were null. */
const isSame = (one: unknown, other: unknown) =>
  JSON.stringify(one ?? null) === JSON.stringify(other ?? null);

/** `must have at most 255 characters` as a sentence of its own. */
function sentence(message: string): string {
  return `${message.charAt(0).toUpperCase()}${message.slice(1)}.`.replace(/\.\.$/, ".");
}
