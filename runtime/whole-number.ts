import * as z from 'zod'

/** Every number of so many digits is exact in JavaScript and in a database. */
const DIGITS = /^\d{1,15}$/
const MOST = 999_999_999_999_999

/** A whole number in an address, in digits alone: no sign, no point, no exponent, and nothing is not 0. */
export function wholeNumber({ min, max = MOST }: { min: number; max?: number }) {
  const message = `un nombre entier de ${min} à ${max}`
  return z
    .unknown()
    .refine((value) => DIGITS.test(String(value)), message)
    .pipe(z.coerce.number().refine((n) => n >= min && n <= max, message))
    .meta({
      override: ({ jsonSchema }) => void Object.assign(jsonSchema, { type: 'integer', minimum: min, maximum: max }),
    })
}
