package org.restbench.workload.npb.ft;

import java.util.Arrays;
import java.util.List;
import org.restbench.workload.npb.ft.BoxTransform.Batch;

/**
 * The constants of one class of FT.
 *
 * @param nx points on axis x; those on all three axes are powers of two, at least {@link Batch#WIDTH}
 * @param checksums NPB's: real and imaginary part for each iteration
 */
record FourierClass(String name, int nx, int ny, int nz, List<Double> checksums) {
    static final FourierClass S = of("""
            S 64 64 64
            554.6087004964 484.5363331978  554.6385409189 486.5304269511  554.6148406171 488.3910722336
            554.5423607415 490.1273169046  554.4255039624 491.7475857993  554.2683411902 493.2597244941""");

    static final FourierClass W = of("""
            W 128 128 32
            567.3612178944 529.3246849175  563.1436885271 528.2149986629  559.4024089970 527.0996558037
            556.0698047020 526.0027904925  553.0898991250 524.9400845633  550.4159734538 523.9212247086""");

    static final FourierClass A = of("""
            A 256 256 128
            504.6735008193 511.4047905510  505.9412319734 509.8809666433  506.9376896287 509.8144042213
            507.7892868474 510.1336130759  508.5233095391 510.4914655194  509.1487099959 510.7917842803""");

    static final FourierClass B = of("""
            B 512 256 256
            517.7643571579 507.7803458597  515.4521291263 508.8249431599  514.6409228649 509.6208912659
            514.2378756213 510.1023387619  513.9626667737 510.3976610617  513.7423460082 510.5948019802
            513.5547056878 510.7404165783  513.3910925466 510.8576573661  513.2470705390 510.9577278523
            513.1197729984 511.0460304483  513.0070319283 511.1252433800  512.9070537032 511.1968077718
            512.8182883502 511.2616233064  512.7393733383 511.3203605551  512.6691062020 511.3735928093
            512.6064276004 511.4218460548  512.5504076570 511.4656139760  512.5002331720 511.5053595966
            512.4551951846 511.5415130407  512.4146770029 511.5744692211""");

    static final FourierClass C = of("""
            C 512 512 512
            519.5078707457 514.9019699238  515.5422171134 512.7578201997  514.4678022222 512.2251847514
            514.0150594328 512.1090289018  513.7550426810 512.1143685824  513.5811056728 512.1496764568
            513.4569343165 512.1870921893  513.3651975661 512.2193250322  513.2955192805 512.2454735794
            513.2410471738 512.2663649603  513.1971141679 512.2830879827  513.1605205716 512.2965869718
            513.1290734194 512.3075927445  513.1012720314 512.3166486553  513.0760908195 512.3241541685
            513.0528295923 512.3304037599  513.0310107773 512.3356167976  513.0103090133 512.3399592211
            512.9905029333 512.3435588985  512.9714421109 512.3465164008""");

    static final List<FourierClass> ALL = List.of(S, W, A, B, C);

    /** @param text name and points on the axes, then the checksums */
    private static FourierClass of(String text) {
        String[] words = text.split("\\s+");
        int[] points = Arrays.stream(words, 1, 4).mapToInt(Integer::parseInt).toArray();
        List<Double> checksums =
                Arrays.stream(words).skip(4).map(Double::valueOf).toList();
        return new FourierClass(words[0], points[0], points[1], points[2], checksums);
    }

    int iterations() {
        return checksums.size() / 2;
    }

    int size() {
        return nx * ny * nz;
    }
}
