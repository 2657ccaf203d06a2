import { Encrypter } from "age-encryption";
import { afterAll, beforeAll } from "bun:test";

const cheapWorkFactor = 2;

/** Lowers the cost of encrypted backups in the tests of this file, which is a second of CPU time per file. */
export function useCheapEncryption() {
  const original = Reflect.get(Encrypter.prototype, "setScryptWorkFactor") as (
    this: Encrypter,
    factor: number,
  ) => void;
  beforeAll(() => {
    Encrypter.prototype.setScryptWorkFactor = function () {
      original.call(this, cheapWorkFactor);
    };
  });
  afterAll(() => void (Encrypter.prototype.setScryptWorkFactor = original));
}
