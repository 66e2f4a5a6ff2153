/**
 * The text with at most 30 marks on a letter, as it has to be before it is put into a normal form: that sorts the marks, in the square of their
 * number (12 s for 120,000). 30 is the limit of UAX #15, which no language comes near.
 */
export const limitMarks = (text: string): string => text.replace(/[\p{M}ﾞﾟ](?<=[\p{M}ﾞﾟ]{31})/gu, '')
