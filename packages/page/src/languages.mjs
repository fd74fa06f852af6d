// One sentence in many languages, written for this page, to compare the cost of the same meaning.

export const SENTENCES = [
  [
    'English',
    'en',
    'The train to the sea leaves at seven, and the children are already waiting with bread and apples.',
  ],
  ['German', 'de', 'Der Zug ans Meer fährt um sieben Uhr, und die Kinder warten schon mit Brot und Äpfeln.'],
  [
    'French',
    'fr',
    'Le train pour la mer part à sept heures, et les enfants attendent déjà avec du pain et des pommes.',
  ],
  ['Spanish', 'es', 'El tren hacia el mar sale a las siete, y los niños ya están esperando con pan y manzanas.'],
  ['Portuguese', 'pt', 'O trem para o mar parte às sete, e as crianças já estão esperando com pão e maçãs.'],
  ['Polish', 'pl', 'Pociąg nad morze odjeżdża o siódmej, a dzieci już czekają z chlebem i jabłkami.'],
  ['Finnish', 'fi', 'Juna meren rannalle lähtee seitsemältä, ja lapset odottavat jo leivän ja omenoiden kanssa.'],
  ['Turkish', 'tr', 'Denize giden tren saat yedide kalkıyor ve çocuklar ekmek ve elmalarla çoktan bekliyor.'],
  ['Vietnamese', 'vi', 'Chuyến tàu ra biển khởi hành lúc bảy giờ, và bọn trẻ đã đang đợi với bánh mì và táo.'],
  [
    'Swahili',
    'sw',
    'Treni ya kwenda baharini inaondoka saa moja, na watoto tayari wanasubiri wakiwa na mkate na matofaa.',
  ],
  ['Russian', 'ru', 'Поезд к морю отправляется в семь, и дети уже ждут с хлебом и яблоками.'],
  ['Greek', 'el', 'Το τρένο για τη θάλασσα φεύγει στις επτά και τα παιδιά περιμένουν ήδη με ψωμί και μήλα.'],
  ['Hebrew', 'he', 'הרכבת אל הים יוצאת בשבע, והילדים כבר מחכים עם לחם ותפוחים.'],
  ['Arabic', 'ar', 'ينطلق القطار إلى البحر في الساعة السابعة، والأطفال ينتظرون بالفعل ومعهم الخبز والتفاح.'],
  ['Hindi', 'hi', 'समुद्र जाने वाली ट्रेन सात बजे निकलती है, और बच्चे रोटी और सेब लेकर पहले से ही इंतज़ार कर रहे हैं।'],
  ['Thai', 'th', 'รถไฟไปทะเลออกตอนเจ็ดโมง และเด็กๆ กำลังรออยู่แล้วพร้อมขนมปังกับแอปเปิล'],
  ['Chinese', 'zh', '开往海边的火车七点出发，孩子们已经带着面包和苹果在等了。'],
  ['Japanese', 'ja', '海へ行く列車は七時に出発し、子どもたちはもうパンとりんごを持って待っています。'],
  ['Korean', 'ko', '바다로 가는 기차는 일곱 시에 출발하고, 아이들은 벌써 빵과 사과를 들고 기다리고 있다.'],
]

/**
 * @typedef {object} Cost
 * @property {string} language
 * @property {string} code
 * @property {string} text
 * @property {number} tokens
 * @property {number} perCharacter tokens per grapheme
 * @property {number} perWord tokens per word, by Unicode's rules
 * @property {number} timesEnglish tokens relative to English
 */

/**
 * Returns the cost of each sentence.
 *
 * @param {import('tokenlane').Tokenizer} tokenizer
 * @returns {Promise<Cost[]>}
 */
export async function costs(tokenizer) {
  const counts = await tokenizer.countBatch(
    SENTENCES.map(([, , text]) => text),
    { addSpecialTokens: false, specialTokens: 'text' },
  )
  return SENTENCES.map(([language, code, text], row) => {
    const tokens = counts[row]
    return {
      language,
      code,
      text,
      tokens,
      perCharacter: tokens / segments(text, code, 'grapheme').length,
      perWord: tokens / segments(text, code, 'word').filter(({ isWordLike }) => isWordLike).length,
      timesEnglish: tokens / counts[0],
    }
  })
}

const segments = (text, code, granularity) => [...new Intl.Segmenter(code, { granularity }).segment(text)]
