/** The state of every form: values, errors, drafts, conflicts and saving. */
import { type ChangeEvent, useEffect, useRef, useState } from "react";
import { flushSync } from "react-dom";
import { ApiError } from "../../data/client.ts";
import { drafts, type DraftValues } from "../../data/drafts.ts";
import { createProvisionalId } from "../../data/record.ts";
import { notify } from "../toasts.tsx";
import { t } from "../../language/text.ts";

export type Values = Record<string, unknown>;
type Issue = { path: string; message: string };

/** State of a form, and the props of its fields. */
export type Form<V extends Values> = {
  values: V;
  set: <K extends keyof V & string>(name: K, value: V[K]) => void;
  /** Replaces all values, and the values that changes are compared with. */
  replace: (values: V) => void;
  /** Like `replace`, and also drops errors and the draft. */
  reset: (values: V) => void;
  /** The server's error about a field or a part of it. */
  errorOf: (path: string) => string | undefined;
  /** Props of a text field. */
  input: <K extends keyof V & string>(
    name: K,
  ) => {
    value: V[K];
    onChange: (event: ChangeEvent<HTMLInputElement | HTMLTextAreaElement>) => void;
    error: string | undefined;
  };
  /** Props of a field whose `onChange` passes its value. */
  field: <K extends keyof V & string>(
    name: K,
  ) => { value: V[K]; onChange: (value: V[K] | null) => void; error: string | undefined };
  /** Props of a switch. */
  toggle: <K extends keyof V & string>(
    name: K,
  ) => {
    checked: boolean;
    onChange: (event: ChangeEvent<HTMLInputElement>) => void;
    error: string | undefined;
  };
  /** Shows an error at the fields that it names. */
  fail: (error: unknown) => void;
  clearErrors: () => void;
  /** Errors that belong to no visible field. */
  otherErrors: string | null;
  isBusy: boolean;
  /** Whether values differ from the saved record. */
  isDirty: boolean;
  /** Whether the fields contain a stored draft. */
  restored: boolean;
  /** Drops all changes. */
  discard: () => void;
  /** Whether `discard` needs a confirmation. */
  asksFirst: boolean;
  hasConflict: boolean;
  submit: (event?: { preventDefault(): void }) => Promise<void>;
  /** Resolves a conflict (412): overwrites the other person's change, or loads it. */
  settle: (choice: "mine" | "theirs") => void;
};

/** Typed values are stored in the tab until they are saved, emptied or discarded. */
export type Draft = {
  /** Identifies the form and its record. */
  key: string;
  /** Fields with secrets. Drafts never contain them. */
  secrets?: readonly string[];
  /** Preserves the draft when the person loads the other version in a conflict. */
  staysOnConflict?: boolean;
};

/**
 * Manages a form over the API. `save` sends the values, and the form shows its errors. With
 * `force`, `save` must omit `If-Match`, to overwrite another person's change. `idempotencyKey` is the
 * idempotency key: it stays the same until a value changes, even after a reload.
 */
export function useForm<V extends Values>(
  initial: V,
  save: (values: V, force: boolean, idempotencyKey: string) => Promise<unknown>,
  onReload?: () => void,
  draft?: Draft,
): Form<V> {
  const [isBusy, setBusy] = useState(false);
  const [hasConflict, setConflict] = useState(false);
  const errors = useErrors();
  const typed = useTypedValues(initial, draft, isBusy);

  const { run, fail } = createSaver(typed, errors, save, { setBusy, setConflict });
  const set: Form<V>["set"] = (name, value) => {
    typed.set(name, value);
    errors.clearField(name);
  };

  const { values, restored, isDirty } = typed;
  return {
    values,
    set,
    restored,
    isDirty,
    isBusy,
    hasConflict,
    fail,
    ...createFieldProps(values, set, errors.errorOf),
    errorOf: errors.errorOf,
    clearErrors: errors.clear,
    otherErrors: errors.rest(),
    asksFirst: draft !== undefined,
    replace: typed.replace,
    reset(next) {
      typed.reset(next);
      errors.clear();
    },
    discard() {
      typed.discard();
      errors.clear();
    },
    async submit(event) {
      event?.preventDefault();
      if (!isBusy) await run(false);
    },
    settle(choice) {
      setConflict(false);
      if (choice === "mine") return void run(true);
      if (draft?.staysOnConflict !== true) typed.forget();
      onReload?.();
    },
  };
}

/** Saves the values, and shows errors at their fields. */
function createSaver<V extends Values>(
  typed: ReturnType<typeof useTypedValues<V>>,
  errors: ReturnType<typeof useErrors>,
  save: (values: V, force: boolean, idempotencyKey: string) => Promise<unknown>,
  state: { setBusy: (is: boolean) => void; setConflict: (is: boolean) => void },
) {
  const { setBusy, setConflict } = state;
  async function run(force: boolean) {
    // A successful save closes the dialog before this continues.
    typed.closesSilently();
    setBusy(true);
    errors.clear();
    try {
      await save(typed.values, force, typed.getIdempotencyKey());
      typed.markSaved();
      setBusy(false);
    } catch (error) {
      showFailure(error);
    }
  }
  function showFailure(error: unknown) {
    // Synchronous: the field that gets the focus must already be marked as invalid.
    flushSync(() => {
      setBusy(false);
      if (error instanceof ApiError && error.status === 412) setConflict(true);
      else errors.show(error);
    });
    document.querySelector<HTMLElement>("form [aria-invalid=true]")?.focus();
  }
  return { run, fail: showFailure };
}

function createFieldProps<V extends Values>(
  values: V,
  set: Form<V>["set"],
  errorOf: Form<V>["errorOf"],
): Pick<Form<V>, "input" | "field" | "toggle"> {
  return {
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
  };
}

const isWithin = (path: string, field: string) =>
  path === field || path.startsWith(`${field}.`) || path.startsWith(`${field}[`);

/** Errors of single fields, and of the form as a whole. */
function useErrors() {
  const [issues, setIssues] = useState<readonly Issue[]>([]);
  const [failure, setFailure] = useState<string | null>(null);
  const renderedPaths = useRef(new Set<string>());
  return {
    errorOf: (path: string) => {
      renderedPaths.current.add(path);
      const found = issues.find((issue) => isWithin(issue.path, path));
      return found && toSentence(found.message);
    },
    /** Errors that belong to no rendered field. */
    rest: () => {
      const unplaced = issues.filter(
        ({ path }) => ![...renderedPaths.current].some((field) => isWithin(path, field)),
      );
      const text = unplaced.map(({ path, message }) => `${path} ${message}.`).join(" ");
      return failure ?? (text || null);
    },
    show: (error: unknown) => {
      if (error instanceof ApiError && error.details.length > 0) setIssues(error.details);
      else setFailure(error instanceof Error ? error.message : String(error));
    },
    clear: () => {
      setFailure(null);
      setIssues([]);
    },
    clearField: (name: string) =>
      setIssues((current) => current.filter(({ path }) => !isWithin(path, name))),
  };
}

/** The values of a form, with its draft in the tab's storage. */
function useTypedValues<V extends Values>(initial: V, draft: Draft | undefined, isBusy: boolean) {
  const [stored] = useState(() => draft && drafts.read(draft.key));
  const [start, setStart] = useState(initial);
  const [values, setValues] = useState<V>({ ...initial, ...stored });
  const [restored, setRestored] = useState(stored !== undefined);
  const changed = useRef(new Set(Object.keys(stored ?? {})));
  const idempotencyKey = useIdempotencyKey(draft, stored !== undefined);
  const typed: DraftValues = Object.fromEntries(
    [...changed.current].flatMap((name) =>
      isSame(values[name], start[name]) ? [] : [[name, values[name]]],
    ),
  );
  const isDirty = Object.keys(typed).length > 0;
  const announces = useStoredDraft(draft, typed, isDirty && !isBusy, values);

  /** Drops the draft. */
  function forget() {
    idempotencyKey.set(undefined);
    changed.current.clear();
    announces.current = false;
    setRestored(false);
    if (draft) drafts.write(draft.key, {});
  }
  function replace(next: V) {
    idempotencyKey.set(undefined);
    // A copy, so that `markSaved` can distinguish it from the previous values.
    setStart({ ...next });
    setValues(next);
  }
  return {
    values,
    restored,
    isDirty,
    forget,
    markSaved() {
      // Not if `save` has replaced the values.
      setStart((current) => (current === start ? values : current));
      forget();
    },
    getIdempotencyKey: idempotencyKey.get,
    closesSilently: () => void (announces.current = false),
    set(name: string, value: unknown) {
      idempotencyKey.set(undefined);
      changed.current.add(name);
      setValues((current) => ({ ...current, [name]: value }));
    },
    replace,
    reset: (next: V) => {
      replace(next);
      forget();
    },
    discard: () => {
      setValues(start);
      forget();
    },
  };
}

/**
 * Stores the draft after each change. When the form closes and `announces` is true, reports that a draft was stored.
 */
function useStoredDraft(
  draft: Draft | undefined,
  typed: DraftValues,
  isDirty: boolean,
  values: Values,
) {
  const announces = useRef(false);
  announces.current = draft !== undefined && isDirty;
  const key = draft?.key;
  useEffect(() => {
    if (draft === undefined) return;
    const secrets = new Set(draft.secrets);
    const safe = Object.entries(typed).filter(([name]) => !secrets.has(name));
    drafts.write(draft.key, Object.fromEntries(safe));
  }, [values, key]);
  useEffect(
    () => () => {
      if (announces.current) notify(t("What you typed is kept"));
    },
    [],
  );
  return announces;
}

/** The idempotency key of the next save. A draft stores it until the response has arrived. */
function useIdempotencyKey(draft: Draft | undefined, isRestored: boolean) {
  const storage = draft && `${draft.key} once`;
  const stored = useRef<unknown>(
    isRestored && storage !== undefined ? drafts.read(storage)?.["key"] : undefined,
  );
  function set(key: string | undefined) {
    if (stored.current === key) return;
    stored.current = key;
    if (storage !== undefined) drafts.write(storage, key === undefined ? {} : { key });
  }
  return {
    set,
    get: (): string => {
      const key = (stored.current as string | undefined) ?? createProvisionalId();
      set(key);
      return key;
    },
  };
}

/** Compares as JSON. A value that was never set equals null. */
const isSame = (one: unknown, other: unknown) =>
  JSON.stringify(one ?? null) === JSON.stringify(other ?? null);

/** Turns a message such as `must have at most 255 characters` into a sentence. */
function toSentence(message: string): string {
  return `${message.charAt(0).toUpperCase()}${message.slice(1)}.`.replace(/\.\.$/, ".");
}
