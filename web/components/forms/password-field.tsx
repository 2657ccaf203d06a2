import { PasswordInput, type PasswordInputProps } from "@mantine/core";
import { useId } from "@mantine/hooks";

/** A password's field whose errors screen readers know of; those of Mantine's own are only seen. */
export function PasswordField(props: PasswordInputProps) {
  const id = useId(props.id);
  const described = [
    ...(props.description ? [`${id}-description`] : []),
    ...(props.error ? [`${id}-error`] : []),
  ];
  return (
    <PasswordInput
      {...props}
      id={id}
      aria-invalid={props.error ? true : undefined}
      aria-describedby={described.length > 0 ? described.join(" ") : undefined}
    />
  );
}
