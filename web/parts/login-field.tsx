import { PasswordInput, Switch, TextInput } from "@mantine/core";

type Login = { username: string; password?: string };

/** A user name with a password that is never shown; off is null. */
export function LoginField({
  label,
  error,
  value,
  onChange,
  isSet,
}: {
  label: string;
  error: string | undefined;
  value: Login | null;
  onChange: (login: Login | null) => void;
  isSet: boolean;
}) {
  return (
    <div className="login-field">
      <Switch
        label={label}
        checked={value !== null}
        onChange={({ currentTarget }) => onChange(currentTarget.checked ? { username: "" } : null)}
      />
      {value !== null && (
        <div className="field-row">
          <TextInput
            label="User name"
            autoComplete="off"
            error={error}
            value={value.username}
            onChange={({ currentTarget }) => onChange({ ...value, username: currentTarget.value })}
          />
          <PasswordInput
            label="Password"
            autoComplete="off"
            placeholder={isSet ? "Set; leave empty to keep it" : ""}
            value={value.password ?? ""}
            onChange={({ currentTarget }) => {
              const { password: _, ...rest } = value;
              const password = currentTarget.value;
              onChange(password === "" ? rest : { ...rest, password });
            }}
          />
        </div>
      )}
    </div>
  );
}
