/**
 * Words of questions that say nothing about their subject. In a small index they are rare, and would count more than the words
 * that matter. Only words without another meaning in common languages of data: no `may`, `will`, `us`, `it` or `pro`.
 */
const STOP_WORDS: ReadonlySet<string> = new Set(
  `a about after again all also am an and any are as at be been before being between both but by can could did do does doing
  during each either every few for from had has have having he her here hers him his how i if in into is its just many me
  more most much my no nor not now of off on once only or other our ours out over own per same she should so some such than
  that the their theirs them then there these they this those through to too under until up very was we were what when
  where which while who whom whose why with within without would you your yours
  der das den dem des ein eine einer eines einem einen und oder von im mit zu zum zur auf ist sind wie wer wo welche
  welcher welches viele bei nach nicht auch
  le la les un une des du et ou dans par pour sur est sont quel quelle quels quelles combien que qui
  el los las una unos unas y o en por para con es cuantos cuantas cual cuales`
    .split(/\s+/)
    .filter(Boolean),
);

export const isStopWord = (folded: string): boolean => STOP_WORDS.has(folded);
