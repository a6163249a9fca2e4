//! The words of the generated vault: common English ones, rarer ones that the built-in
//! model knows (so that passages have vectors, as English notes do), some made up of
//! syllables, and enough Chinese and Japanese to exercise unspaced scripts.

use std::collections::BTreeSet;

use super::chance::{Chance, Zipf};

/// Rarer words of the whole vault.
const RARER: usize = 30_000;
/// So many of them are made up, as names and jargon are.
const MADE_UP: usize = 6_000;
/// Real words, one a line, among other tokens.
const VOCABULARY: &str = include_str!("../../../crates/embed/models/static-en-256/vocab.txt");
/// Words that are a topic's own.
const TOPIC_WORDS: usize = 160;

/// Common words, the most common first.
const COMMON: &str = "the of and to a in is that it for was on with as be at by this had not are but \
from or have an they which one you were all her she there would their we him been has when who will \
no more if out so up said what its about than into them can only other time new some could these two \
may first then do any like my now over such our man me even most made after also did many off before \
must well back through years much where your way down should because long each just state those \
people too mr how little good world make very year still see own work men day get here old life both \
between being under three never know same last another while us might great go come since against \
right came take used himself few house use place during high without again home around small however \
found part school once general upon every thing left number course war until always away something \
fact water public less though put think almost hand enough far took head yet better set told night \
nothing end why called find going look asked later point knew next city give group toward young days \
let room word things face second large family done side given case kind need line read write note \
list open close start stop plan idea change question answer reason rule step test check keep hold \
bring send move turn show follow learn teach build break cut grow plant cook bake wash clean buy sell \
pay cost price money bank book page letter story song music paint color light dark warm cold wet dry \
fast slow early late week month spring summer autumn winter morning evening rain snow wind sun moon \
star sea river lake hill road bridge town village garden tree leaf root seed flower fruit bread \
butter milk cheese salt sugar oil wood stone iron glass paper cloth wool cotton silk leather clay \
kiln glaze wheel tool knife hammer nail rope box bag bottle cup plate table chair door window wall \
floor roof kitchen office desk lamp clock phone computer file folder server network memory disk \
model data table index search result error report meeting agenda decision project task deadline \
client budget invoice contract travel train ticket hotel map museum museum doctor sleep breath walk \
run swim bicycle engine battery signal sensor camera photo film theatre radio history science \
method measure weight length speed sample average pattern theory example problem solution language \
grammar verb noun sentence translate friend mother father sister brother child neighbour teacher \
student";

const ONSETS: &[&str] = &[
    "b", "br", "c", "ch", "d", "dr", "f", "g", "gr", "h", "j", "k", "l", "l", "m", "m", "n", "n",
    "p", "pl", "r", "r", "s", "s", "sh", "st", "t", "t", "th", "tr", "v", "w", "z", "",
];
const NUCLEI: &[&str] = &[
    "a", "a", "e", "e", "i", "i", "o", "o", "u", "ai", "ea", "ou",
];
/// Inside a word a syllable mostly ends in its vowel.
const CODAS: &[&str] = &["", "", "", "", "", "", "l", "n", "r", "s"];
const LAST_CODAS: &[&str] = &[
    "", "", "l", "m", "n", "nd", "nt", "r", "rk", "s", "st", "t", "x",
];
const ENDINGS: &[&str] = &["", "", "", "", "", "", "", "er", "ing", "ed", "al", "s"];

/// Characters that open a text in Chinese often, and those of Japanese between them.
const CHINESE: &str = "的一是不了人我在有他这中大来上个国到说们为子和你地出道也时年得就那要下以生会自着去之过家学对可里后小么心多天而能好都然没日于起还发成事只作当想看文无开手十用主行方又如前所本见经头面公同三已老从动两长知民样现分将外但身些与高意进把法此实回二理美点月明其种声全工己话儿者向情部正名定女问力机给等几很业最间新什打便位因重被走电四第门相次东政海口使教西再平真听世气信北少关并内加化由却代军产入先山五太水万市眼体别处总才场师书比住员九笑性通目华报立马命张活难神数件安表原车白应路期叫死常提感金何更反合放做系计或司利受光王果亲界及今京务制解各任至清物台象记边共风战干接它许八特觉望直服毛林题建南度统色字请交爱让认算论百吃义科怎元社术结六功指思非流每青管夫连远资队跟带花快条院变联言权往展该领传近留红治决周保达办运武半候七必城父强步完革深区即求品士转量空甚众技轻程告江语英基派满式李息写呢识极令黄德收脸钱党倒未持取设始版双历越史商千片容研像找友孩站广改议形委早房音火际则首单据导影失拿网香似斯专石若兵弟谁校读志飞观争究包组造落视济喜离虽";
const JAPANESE: &str = "のにはをたがでてとしれさあいうなもるかこきくけそすせちつまみむめらりよやゆわん記事本日時間人年今回方法水土火木金月道具作品釉薬窯焼";

/// All words and how often each occurs.
pub(super) struct Words {
    common: Vec<&'static str>,
    common_ranks: Zipf,
    rarer: Vec<String>,
    rarer_ranks: Zipf,
    topic_ranks: Zipf,
    chinese: Vec<char>,
    chinese_ranks: Zipf,
    japanese: Vec<char>,
}

/// The words that a topic uses more than others do, as places in the list of rarer ones.
pub(super) struct Topic(Vec<usize>);

/// The script of a passage of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Script {
    Latin,
    Chinese,
    Japanese,
}

impl Words {
    pub(super) fn new(chance: &mut Chance) -> Self {
        let mut seen: BTreeSet<String> = BTreeSet::new();
        let common: Vec<&str> = COMMON
            .split_whitespace()
            .filter(|word| seen.insert((*word).to_owned()))
            .collect();
        let mut real: Vec<&str> = VOCABULARY.lines().filter(|word| is_word(word)).collect();
        let mut rarer = Vec::with_capacity(RARER);
        while rarer.len() < RARER {
            let word = if rarer.len() < RARER - MADE_UP && !real.is_empty() {
                real.swap_remove(chance.below(real.len())).to_owned()
            } else {
                made_up_word(chance)
            };
            if word.len() > 2 && seen.insert(word.clone()) {
                rarer.push(word);
            }
        }
        // Frequent words are short, as in any language.
        rarer.sort_by_cached_key(|word| (word.len() / 3, chance.below(RARER)));
        let chinese: Vec<char> = CHINESE.chars().collect();
        Self {
            common_ranks: Zipf::new(common.len()),
            common,
            rarer_ranks: Zipf::new(rarer.len()),
            rarer,
            topic_ranks: Zipf::new(TOPIC_WORDS),
            chinese_ranks: Zipf::new(chinese.len()),
            chinese,
            japanese: JAPANESE.chars().collect(),
        }
    }

    pub(super) fn topic(&self, chance: &mut Chance) -> Topic {
        let words = (0..TOPIC_WORDS).map(|_| chance.below(self.rarer.len() / 2));
        Topic(words.collect())
    }

    /// A word of running text: half of them common, a fifth the topic's own.
    pub(super) fn word(&self, topic: &Topic, chance: &mut Chance) -> &str {
        match chance.below(100) {
            0..52 => self.common[self.common_ranks.rank(chance)],
            52..72 => self.topic_word(topic, chance),
            _ => &self.rarer[self.rarer_ranks.rank(chance)],
        }
    }

    /// One of the topic's own words.
    pub(super) fn topic_word(&self, topic: &Topic, chance: &mut Chance) -> &str {
        &self.rarer[topic.0[self.topic_ranks.rank(chance)]]
    }

    /// One of the topic's most frequent words, by rank; tags and folders are named so.
    pub(super) fn topic_name(&self, topic: &Topic, rank: usize) -> &str {
        &self.rarer[topic.0[rank % TOPIC_WORDS]]
    }

    /// A character of an unspaced script.
    pub(super) fn character(&self, script: Script, chance: &mut Chance) -> char {
        match script {
            Script::Chinese => self.chinese[self.chinese_ranks.rank(chance)],
            _ => self.japanese[chance.below(self.japanese.len())],
        }
    }
}

fn is_word(token: &str) -> bool {
    token.len() >= 4 && token.bytes().all(|letter| letter.is_ascii_lowercase())
}

fn made_up_word(chance: &mut Chance) -> String {
    let syllables = [1, 2, 2, 2, 3][chance.below(5)];
    let mut word = String::new();
    for syllable in 1..=syllables {
        let codas = if syllable == syllables {
            LAST_CODAS
        } else {
            CODAS
        };
        for parts in [ONSETS, NUCLEI, codas] {
            word.push_str(parts[chance.below(parts.len())]);
        }
    }
    word.push_str(ENDINGS[chance.below(ENDINGS.len())]);
    word
}

/// `word` with its first letter large.
pub(super) fn capitalized(word: &str) -> String {
    let mut letters = word.chars();
    let first = letters.next().map(|letter| letter.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}
